"""Hits of a layer and calls of a tool are read without the rest of the week."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0008_record_indexes'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='ruleusage',
            index=models.Index(fields=['layer', 'hour'], name='usage_of_layer'),
        ),
        migrations.AddIndex(
            model_name='ruleusage',
            index=models.Index(fields=['tool', 'hour'], name='usage_of_tool'),
        ),
    ]
