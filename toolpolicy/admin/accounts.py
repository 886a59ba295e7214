"""People and groups: Django's forms, our services, and a record of every change."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks
from toolpolicy.admin.account_forms import GroupForm, NewUserForm, PasswordForm, UserForm
from toolpolicy.admin.base import ServicePage, by
from toolpolicy.services import accounts


class SuperusersOnly(ServicePage):
    """Whoever manages accounts can give themselves everything: so only superusers do."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _rules(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _rules(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _rules(request)


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserPage(SuperusersOnly, UserAdmin):
    """People."""

    lead = _("People who sign in here. They are switched off, never deleted: records name them.")
    form = UserForm
    add_form = NewUserForm
    change_password_form = PasswordForm
    list_display = ("username", "full_name", "roles", "standing", "last_seen")
    list_filter = ("groups", "is_active", "is_staff", "is_superuser")
    sortable_by = ("username",)
    search_help_text = _("Name or e-mail")
    actions = None
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "first_name", "last_name", "email")}),
        (_("Access"), {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        (_("More"), {"fields": ("user_permissions",), "classes": ("collapse",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Read the groups along: one query more, however many people."""
        found: QuerySet[User] = super().get_queryset(request)
        return found.prefetch_related("groups")

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> User | None:
        """Note who asks, for the password form, which is not told."""
        user: User | None = super().get_object(request, *args, **kwargs)
        if user is not None:
            vars(user)["asked"] = by(request)
        return user

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=_("name"))
    def full_name(self, user: User) -> str:
        """Show the person's name."""
        return user.get_full_name()

    @admin.display(description=_("groups"))
    def roles(self, user: User) -> SafeString:
        """Show the person's roles."""
        return marks.row(marks.tag(group.name) for group in user.groups.all())

    @admin.display(description=_("state"))
    def standing(self, user: User) -> SafeString:
        """Show what is unusual about the account."""
        return marks.row(
            (
                marks.tag(gettext("superuser"), shape="person") if user.is_superuser else "",
                ""
                if user.is_active
                else marks.tag(gettext("switched off"), shape="skip", tone="hide"),
                "" if user.is_staff else marks.tag(gettext("no access here")),
            )
        )

    @admin.display(description=_("last signed in"))
    def last_seen(self, user: User) -> SafeString:
        """Say when the person signed in last."""
        return marks.moment(user.last_login, seconds=False) or marks.sub(gettext("never"))

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Let the service save what the form says."""
        values = dict(form.cleaned_data)
        groups, permissions = values.pop("groups", None), values.pop("user_permissions", None)
        if not change:
            usable = values.get("set_usable_password", True)
            values["password"] = values["password1"] if usable else None
            values["is_staff"] = True
        saved = accounts.save_user(
            **by(request),
            user=obj.pk if change else None,
            values=values,
            groups=groups,
            permissions=permissions,
        )
        obj.pk = saved.pk
        obj.refresh_from_db()


@admin.register(Group)
class GroupPage(SuperusersOnly, GroupAdmin):
    """Roles."""

    lead = _("What people may do, by role. None of the roles is part of another.")
    form = GroupForm
    list_display = ("name", "members", "permissions_held")
    sortable_by = ("name",)
    search_help_text = _("Name")
    actions = None
    filter_horizontal = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        """Add the counts: one query, however many groups."""
        found: QuerySet[Group] = super().get_queryset(request)
        return found.annotate(
            members_count=Count("user", distinct=True),
            permissions_count=Count("permissions", distinct=True),
        )

    @admin.display(description=_("members"))
    def members(self, group: Group) -> str:
        """Count the people in it."""
        count = vars(group)["members_count"]
        return ngettext("%(count)s member", "%(count)s members", count) % {"count": count}

    @admin.display(description=_("permissions"))
    def permissions_held(self, group: Group) -> str:
        """Count what it gives."""
        count = vars(group)["permissions_count"]
        return ngettext("%(count)s permission", "%(count)s permissions", count) % {"count": count}

    def save_model(self, request: HttpRequest, obj: Group, form: GroupForm, change: bool) -> None:
        """Let the service save what the form says."""
        values = form.cleaned_data
        obj.pk = accounts.save_group(
            **by(request),
            group=obj.pk if change else None,
            name=values["name"],
            permissions=values["permissions"],
        ).pk
        obj.refresh_from_db()

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        accounts.delete_group(**by(request), group=obj.pk)


def _rules(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)
