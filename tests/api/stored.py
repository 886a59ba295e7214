"""How much of a policy is stored, for tests of what may not change it."""

from toolpolicy.models import Layer, PolicyVersion, Rule


def counts():
    return [model.objects.count() for model in (Layer, Rule, PolicyVersion)]
