"""Records are found by each filter of their list, however rare what is sought is."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('toolpolicy', '0007_simulate'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['outcome', '-id'], name='record_of_outcome'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['reason_code', '-id'], name='record_of_reason_code'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['family', '-id'], name='record_of_family'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['agent', '-id'], name='record_of_agent'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['channel', '-id'], name='record_of_channel'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['session', '-id'], name='record_of_session'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(fields=['rule', '-id'], name='record_of_rule'),
        ),
    ]
