"""Reading reports, and taking them away, is a right of its own, for those who audit."""

from django.contrib.auth.management import create_permissions
from django.db import migrations


def grant(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    alias = schema_editor.connection.alias
    config = apps.get_app_config("toolpolicy")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=alias, verbosity=0)
    for auditor in apps.get_model("auth", "Group").objects.using(alias).filter(name="auditor"):
        auditor.permissions.add(_permission(apps, alias))


def withdraw(apps, schema_editor):
    alias = schema_editor.connection.alias
    for auditor in apps.get_model("auth", "Group").objects.using(alias).filter(name="auditor"):
        auditor.permissions.remove(_permission(apps, alias))


def _permission(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    return permissions.get(content_type__app_label="toolpolicy", codename="read_reports")


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0014_sent_forms'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='record',
            options={
                'default_permissions': ('view',),
                'ordering': ('-id',),
                'permissions': (
                    ('simulate', 'Can ask the simulator'),
                    ('read_reports', 'Can read and take away reports'),
                ),
            },
        ),
        migrations.RunPython(grant, withdraw),
    ]
