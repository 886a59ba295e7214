"""`manage.py policy` run by the tests, and a policy for it to read."""

import io

import pytest
from django.core.management import CommandError, call_command

from toolpolicy.models import Layer, PolicyVersion, Record, Rule

POLICY = """\
format: toolpolicy/1
layers:
  - scope: config
    position: 0
    combining: deny_overrides
    policy:
      name: house rules
      rules:
        - effect: deny
          on: [call]
          match: {name: rm_*}
"""


def run(*arguments):
    out = io.StringIO()
    call_command("policy", *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(*arguments):
    """Return what a command that is refused said, and what it printed before."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("policy", *map(str, arguments), stdout=out)
    return str(caught.value), out.getvalue()


def counts():
    return [model.objects.count() for model in (Layer, Rule, PolicyVersion, Record)]
