"""Who writes or publishes rules sees the calls that they answer; who freezes sees what to freeze.

What callers sent is read by those who make rules of it, not by those who only stop it.
"""

from django.db import migrations

SEES = {
    "author": ("record", "recordbody"),
    "publisher": (
        *("record", "recordbody", "ruleusage"),
        *("tool", "tooldeclaration", "toolfamily"),
    ),
    "operator": ("record",),
}


def grant(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    for group, found in _held(apps, schema_editor.connection.alias):
        group.permissions.add(*found)


def withdraw(apps, schema_editor):
    for group, found in _held(apps, schema_editor.connection.alias):
        group.permissions.remove(*found)


def _held(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    for name, models in SEES.items():
        codenames = [f"view_{model}" for model in models]
        found = permissions.filter(
            content_type__app_label="toolpolicy", codename__in=codenames
        )
        for group in apps.get_model("auth", "Group").objects.using(alias).filter(name=name):
            yield group, found


class Migration(migrations.Migration):
    dependencies = [
        ("toolpolicy", "0009_usage_indexes"),
    ]
    operations = [migrations.RunPython(grant, withdraw)]
