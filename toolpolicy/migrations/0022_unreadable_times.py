"""Finds the freezes in which somebody wrote no time in place of when they were lifted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("toolpolicy", "0021_holds_stay")]
    operations = [
        migrations.AddIndex(
            "freeze",
            models.Index(
                condition=models.Q(lifted_at__unreadable=True),
                fields=["kind", "value"],
                name="freeze_unreadable",
            ),
        ),
    ]
