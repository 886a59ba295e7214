"""The application as Django knows it."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ToolPolicyConfig(AppConfig):
    """Registers the system checks and nothing else."""

    name = "toolpolicy"
    verbose_name = _("Tool policy")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the checks, which register themselves."""
        import_module("toolpolicy.checks")
