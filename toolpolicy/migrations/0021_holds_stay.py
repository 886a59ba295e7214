"""What a legal hold holds stays as it was said: the database refuses to change it."""

from django.db import migrations

from toolpolicy.audit import triggers


def install(apps, schema_editor):
    triggers.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("toolpolicy", "0020_audit_readers")]
    operations = [migrations.RunPython(install, migrations.RunPython.noop, elidable=False)]
