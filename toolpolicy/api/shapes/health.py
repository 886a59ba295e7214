"""Answers to probes. Shapes only."""

from rest_framework import serializers

from toolpolicy.api.shapes.base import AnswerShape


class HealthShape(AnswerShape):
    """The process answers."""

    status = serializers.CharField()


class ChecksShape(AnswerShape):
    """`ok`, or what is wrong."""

    database = serializers.CharField()
    policy = serializers.CharField()
    triggers = serializers.CharField()
    seals = serializers.CharField()


class NotesShape(AnswerShape):
    """`ok`, or what is wrong and keeps no decision back."""

    stream = serializers.CharField()


class ReadinessShape(AnswerShape):
    """Whether decisions can be answered, and what keeps them from it."""

    optional = ("notes",)

    ready = serializers.BooleanField()
    checks = ChecksShape()
    notes = NotesShape()
