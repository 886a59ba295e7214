"""A group for those who check the log and see nothing else: neither the policy nor people and keys.

What callers sent stays a right of its own, which a superuser may give besides.
"""

from django.contrib.auth.management import create_permissions
from django.db import migrations

NAME = "audit reader"
HOLDS = ("read_reports", "view_record")


def make(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    alias = schema_editor.connection.alias
    config = apps.get_app_config("toolpolicy")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=alias, verbosity=0)
    group, made = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=NAME)
    # A group of this name that somebody made is theirs: its people get no rights from here.
    if made:
        group.permissions.add(*_held(apps, alias))


def unmake(apps, schema_editor):
    """Leave a group that holds anything else: somebody made it, or made it their own."""
    alias = schema_editor.connection.alias
    ours = set(_held(apps, alias))
    for group in apps.get_model("auth", "Group").objects.using(alias).filter(name=NAME):
        if set(group.permissions.all()) == ours:
            group.delete()


def _held(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    return permissions.filter(content_type__app_label="toolpolicy", codename__in=HOLDS)


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0019_holds'),
    ]

    operations = [migrations.RunPython(make, unmake)]
