"""Asking the simulator is a right of its own, for those who write, publish or audit the policy."""

from django.contrib.auth.management import create_permissions
from django.db import migrations

GROUPS = ("author", "publisher", "auditor")


def grant(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    alias = schema_editor.connection.alias
    config = apps.get_app_config("toolpolicy")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=alias, verbosity=0)
    for group in apps.get_model("auth", "Group").objects.using(alias).filter(name__in=GROUPS):
        group.permissions.add(_permission(apps, alias))


def withdraw(apps, schema_editor):
    alias = schema_editor.connection.alias
    for group in apps.get_model("auth", "Group").objects.using(alias).filter(name__in=GROUPS):
        group.permissions.remove(_permission(apps, alias))


def _permission(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    return permissions.get(content_type__app_label="toolpolicy", codename="simulate")


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0006_access'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='record',
            options={
                'default_permissions': ('view',),
                'ordering': ('-id',),
                'permissions': (('simulate', 'Can ask the simulator'),),
            },
        ),
        migrations.RunPython(grant, withdraw),
    ]
