"""More kinds of records: sign-ins and permissions apart, and what happens to the log itself."""

from django.db import migrations, models

from toolpolicy.audit import triggers


def install(apps, schema_editor):
    # SQLite builds the table of records anew, and that drops its triggers.
    triggers.install(schema_editor.connection)


def nothing(apps, schema_editor):
    """There is nothing to undo."""


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0010_who_sees_records'),
    ]

    operations = [
        migrations.RunPython(nothing, install),
        migrations.RemoveConstraint(
            model_name='record',
            name='record_kind_known',
        ),
        migrations.AlterField(
            model_name='record',
            name='kind',
            field=models.CharField(choices=[('decision', 'decision'), ('listing', 'listing'), ('simulation', 'simulation'), ('change', 'policy change'), ('publish', 'publication'), ('freeze', 'freeze'), ('key', 'API key'), ('import', 'tool import'), ('refused', 'refused request'), ('access', 'sign-in or access (old records)'), ('sign_in', 'sign-in'), ('permission', 'account or permission'), ('payload_read', 'payload read'), ('export', 'export'), ('prune', 'pruning'), ('hold', 'legal hold'), ('erase', 'erasure'), ('rotation', 'key rotation'), ('checkpoint', 'checkpoint'), ('verify', 'verification'), ('repair', 'repair of the log')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='record',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('decision', 'listing', 'simulation', 'change', 'publish', 'freeze', 'key', 'import', 'refused', 'access', 'sign_in', 'permission', 'payload_read', 'export', 'prune', 'hold', 'erase', 'rotation', 'checkpoint', 'verify', 'repair'))), name='record_kind_known', violation_error_message='the kind is not known'),
        ),
        migrations.RunPython(install, nothing),
    ]
