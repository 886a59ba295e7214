"""Records show no secrets: what is masked, the values apart from the text, and who reads them."""

import django.db.models.deletion
import toolpolicy.models.fields
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

from toolpolicy.audit import triggers


NAMES = ("Can view record body", "Can read what callers sent, with a record of it")
GRANTS = {"operator": ("change_masking", "view_masking"), "auditor": ("view_masking",)}


def first_row(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    alias = schema_editor.connection.alias
    apps.get_model("toolpolicy", "Masking").objects.using(alias).get_or_create(pk=1)
    config = apps.get_app_config("toolpolicy")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=alias, verbosity=0)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    ours = permissions.filter(content_type__app_label="toolpolicy")
    for name, codenames in GRANTS.items():
        for group in apps.get_model("auth", "Group").objects.using(alias).filter(name=name):
            group.permissions.add(*ours.filter(codename__in=codenames))
    ours.filter(codename="view_recordbody").update(name=NAMES[1])


def withdraw(apps, schema_editor):
    permissions = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
    ours = permissions.filter(content_type__app_label="toolpolicy")
    ours.filter(content_type__model__in=("masking", "maskedvalue")).delete()
    ours.filter(codename="view_recordbody").update(name=NAMES[0])


def install(apps, schema_editor):
    triggers.install(schema_editor.connection)


def leave(apps, schema_editor):
    """Triggers go with their table."""


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0015_reports'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='recordbody',
            options={'default_permissions': (), 'permissions': (('view_recordbody', 'Can read what callers sent, with a record of it'),), 'verbose_name_plural': 'record bodies'},
        ),
        migrations.AddField(
            model_name='policystate',
            name='masking_digest',
            field=models.CharField(blank=True, help_text='Empty: what the product masks by itself.', max_length=71),
        ),
        migrations.AddField(
            model_name='tool',
            name='masking',
            field=toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='What records do not show of its arguments.'),
        ),
        migrations.AddField(
            model_name='toolfamily',
            name='masking',
            field=toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text="What records do not show of its tools' arguments."),
        ),
        migrations.CreateModel(
            name='Masking',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('rules', toolpolicy.models.fields.ExactJSONField(blank=True, default=dict, help_text='What it leaves out is as the product ships it.')),
                ('version', models.PositiveIntegerField(default=1, editable=False, help_text='Counts the changes of its members.')),
            ],
            options={
                'verbose_name': 'masking',
                'verbose_name_plural': 'masking',
                'default_permissions': ('change', 'view'),
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='masking_one_row', violation_error_message='there is one masking for all tools'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='masking_version_positive', violation_error_message='a version is 1 or more')],
            },
        ),
        migrations.CreateModel(
            name='MaskedValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pointer', models.TextField(help_text='Where in the text the commitment stands.')),
                ('salt', models.CharField(help_text='Random, of this value alone, in hex.', max_length=64)),
                ('value', models.TextField(blank=True, help_text="The value's canonical text; empty where only a digest is kept.")),
                ('record', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='masked', to='toolpolicy.record')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('salt', ''), _negated=True), name='masked_salt_given', violation_error_message='a value is hidden with a salt')],
            },
        ),
        migrations.RunPython(first_row, withdraw),
        migrations.RunPython(install, leave),
    ]
