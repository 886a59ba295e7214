"""Legal holds; who publishes policies places them, who audits sees them."""

import django.db.models.deletion
import django.utils.timezone
import toolpolicy.models.fields
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from toolpolicy.audit import triggers

GRANTS = {
    "publisher": ("add_legalhold", "change_legalhold", "view_legalhold"),
    "auditor": ("view_legalhold",),
}


def grant(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    config = apps.get_app_config("toolpolicy")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=schema_editor.connection.alias, verbosity=0)
    for group, found in _granted(apps, schema_editor.connection.alias):
        group.permissions.add(*found)


def withdraw(apps, schema_editor):
    for group, found in _granted(apps, schema_editor.connection.alias):
        group.permissions.remove(*found)


def _granted(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    for name, codenames in GRANTS.items():
        found = permissions.filter(
            content_type__app_label="toolpolicy", codename__in=codenames
        )
        for group in apps.get_model("auth", "Group").objects.using(alias).filter(name=name):
            yield group, found


def install(apps, schema_editor):
    triggers.install(schema_editor.connection)


def leave(apps, schema_editor):
    """Triggers go with their table."""


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('toolpolicy', '0018_names'),
    ]

    operations = [
        migrations.CreateModel(
            name='LegalHold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='The matter, for example a case number.', max_length=200, verbose_name='name')),
                ('reason', models.TextField(verbose_name='reason')),
                ('filter', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='Which records (`services.record_filters`).')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by_label', models.CharField(max_length=200)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('lifted_by_label', models.CharField(blank=True, max_length=200)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'legal hold',
                'verbose_name_plural': 'legal holds',
                'ordering': ('-created_at', '-pk'),
                'default_permissions': ('add', 'change', 'view'),
                'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='legalhold_name_given', violation_error_message='a hold needs a name'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='legalhold_reason_given', violation_error_message='say why'), models.CheckConstraint(condition=models.Q(models.Q(('lifted_at__isnull', True), ('lifted_by_label', '')), models.Q(('lifted_at__isnull', False), models.Q(('lifted_by_label', ''), _negated=True)), _connector='OR'), name='legalhold_lifted_by_somebody', violation_error_message='who lifts a hold is named')],
            },
        ),
        migrations.RunPython(grant, withdraw),
        migrations.RunPython(install, leave),
    ]
