"""Sign-ins and changes of accounts are a kind of record of their own; auditors see accounts."""

from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from toolpolicy.audit import triggers

SEEN = ("view_user", "view_group")


def show(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    alias = schema_editor.connection.alias
    config = apps.get_app_config("auth")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=alias, verbosity=0)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    found = permissions.filter(content_type__app_label="auth", codename__in=SEEN)
    for auditor in apps.get_model("auth", "Group").objects.using(alias).filter(name="auditor"):
        auditor.permissions.add(*found)


def hide(apps, schema_editor):
    alias = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    found = permissions.filter(content_type__app_label="auth", codename__in=SEEN)
    for auditor in apps.get_model("auth", "Group").objects.using(alias).filter(name="auditor"):
        auditor.permissions.remove(*found)


def install(apps, schema_editor):
    # SQLite builds the table of records anew, and that drops its triggers.
    triggers.install(schema_editor.connection)


def nothing(apps, schema_editor):
    """There is nothing to undo."""


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0005_seen_contexts'),
    ]

    operations = [
        migrations.RunPython(nothing, install),
        migrations.CreateModel(
            name='SignInAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('minute', models.DateTimeField()),
                ('address', models.CharField(max_length=64)),
                ('account', models.CharField(help_text='A keyed hash of the name that was typed.', max_length=64)),
                ('count', models.PositiveIntegerField(default=1)),
            ],
            options={
                'ordering': ('minute',),
                'default_permissions': (),
            },
        ),
        migrations.RemoveConstraint(
            model_name='record',
            name='record_kind_known',
        ),
        migrations.AlterField(
            model_name='record',
            name='kind',
            field=models.CharField(choices=[('decision', 'decision'), ('listing', 'listing'), ('simulation', 'simulation'), ('change', 'policy change'), ('publish', 'publication'), ('freeze', 'freeze'), ('key', 'API key'), ('import', 'tool import'), ('refused', 'refused request'), ('access', 'sign-in or access')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='record',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('decision', 'listing', 'simulation', 'change', 'publish', 'freeze', 'key', 'import', 'refused', 'access'))), name='record_kind_known', violation_error_message='the kind is not known'),
        ),
        migrations.AddIndex(
            model_name='signinattempt',
            index=models.Index(fields=['address'], name='attempt_address'),
        ),
        migrations.AddConstraint(
            model_name='signinattempt',
            constraint=models.UniqueConstraint(fields=('minute', 'address', 'account'), name='attempt_minute_unique', violation_error_message='this minute is counted already'),
        ),
        migrations.AddConstraint(
            model_name='signinattempt',
            constraint=models.CheckConstraint(condition=models.Q(('count__gte', 1)), name='attempt_count_positive', violation_error_message='a count is 1 or more'),
        ),
        migrations.RunPython(show, hide),
        migrations.RunPython(install, nothing),
    ]
