"""Django's admin application with our own site; it imports the modules that register pages."""

from importlib import import_module

from django.contrib.admin.apps import AdminConfig

# Each registers the pages of its subject with the default site.
SUBJECTS = (
    *("layers", "rules", "versions", "registry", "masking", "clients", "freezes", "holds"),
    "records",
    "accounts",
)


class ToolPolicyAdminConfig(AdminConfig):
    """Stands in INSTALLED_APPS instead of `django.contrib.admin`."""

    default_site = "toolpolicy.admin.site.ToolPolicyAdminSite"

    def ready(self) -> None:
        """Register our pages after Django's own, two of which they replace."""
        super().ready()
        for subject in SUBJECTS:
            import_module(f"toolpolicy.admin.{subject}")
