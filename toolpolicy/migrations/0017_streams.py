"""How far the records were streamed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0016_masking'),
    ]

    operations = [
        migrations.CreateModel(
            name='StreamState',
            fields=[
                ('target', models.TextField(help_text='The path of the file; - is the output.', primary_key=True, serialize=False)),
                ('seq', models.PositiveBigIntegerField(default=0, help_text='The last record that is there.')),
                ('at', models.DateTimeField(help_text='When it was written.', null=True)),
                ('failing_since', models.DateTimeField(null=True)),
                ('error', models.CharField(blank=True, max_length=500)),
            ],
            options={
                'default_permissions': (),
            },
        ),
    ]
