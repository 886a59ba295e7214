"""The groups with their permissions, none implied by another, and the one state row."""

from django.contrib.auth.management import create_permissions
from django.db import migrations

MODELS = (
    "apiclient", "document", "freeze", "layer", "policystate", "policyversion", "record",
    "recordbody", "refusalcount", "rule", "ruleusage", "sessiontaint", "tool", "tooldeclaration",
    "toolfamily",
)


def _view(*models):
    return tuple(f"view_{model}" for model in models)


# Only auditors and superusers see everything. Nobody gets `change_baseline` by default: it is
# given by hand to those who may loosen the installed safeguards.
GROUPS = {
    "author": (
        "add_layer", "change_layer", "delete_layer", "add_rule", "change_rule", "delete_rule",
        *_view("layer", "rule", "document", "policystate", "policyversion", "ruleusage"),
        *_view("tool", "tooldeclaration", "toolfamily"),
    ),
    "publisher": (
        "publish_policy",
        *_view("layer", "rule", "document", "policystate", "policyversion"),
    ),
    "approver": _view("layer", "rule", "policyversion", "record", "recordbody", "tool", "toolfamily"),
    "auditor": _view(*MODELS),
    "operator": (
        "add_freeze", "change_freeze", "add_apiclient", "change_apiclient",
        "add_toolfamily", "change_toolfamily", "add_tool", "change_tool",
        *_view("freeze", "apiclient", "toolfamily", "tool", "tooldeclaration"),
        *_view("refusalcount", "sessiontaint"),
    ),
}


def install(apps, schema_editor):
    """Also called by the tests, after they emptied the database."""
    alias = schema_editor.connection.alias
    # Django makes permissions after all migrations have run; here they are needed now.
    config = apps.get_app_config("toolpolicy")
    if getattr(config, "models_module", None) is None:  # what a migration sees of an application
        config.models_module = True
    create_permissions(config, apps=apps, using=alias, verbosity=0)
    Group = apps.get_model("auth", "Group")
    Permission = apps.get_model("auth", "Permission")
    ours = Permission.objects.using(alias).filter(content_type__app_label="toolpolicy")
    found = {permission.codename: permission for permission in ours}
    for name, codenames in GROUPS.items():
        group, _ = Group.objects.using(alias).get_or_create(name=name)
        group.permissions.add(*(found[codename] for codename in codenames))
    apps.get_model("toolpolicy", "PolicyState").objects.using(alias).get_or_create(pk=1)


def remove(apps, schema_editor):
    Group = apps.get_model("auth", "Group")
    Group.objects.using(schema_editor.connection.alias).filter(name__in=GROUPS).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("toolpolicy", "0002_triggers"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(install, remove)]
