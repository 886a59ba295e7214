"""The forms of people and groups."""

from typing import Any, ClassVar, cast

from django import forms
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    AdminUserCreationForm,
    SetUnusablePasswordMixin,
)
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import ServiceForm
from toolpolicy.services import accounts


class PermissionsField(forms.ModelMultipleChoiceField):
    """Permissions as boxes to tick, named in words; only those that our pages ask for."""

    widget = forms.CheckboxSelectMultiple({"class": "is-columns is-wide"})

    def __init__(self, **kwargs: Any) -> None:
        held = Permission.objects.filter(content_type__app_label="toolpolicy")
        seen = Permission.objects.filter(codename__in=("view_user", "view_group"))
        ordered = (
            (held | seen).select_related("content_type").order_by("content_type__model", "codename")
        )
        super().__init__(ordered, **{"required": False, **kwargs})

    def label_from_instance(self, obj: Model) -> str:
        """Return the permission in words, without its application and model."""
        return str(vars(obj)["name"])


class UserForm(ServiceForm):
    """A person: who they are, and what they may do. The password has its own page."""

    groups = forms.ModelMultipleChoiceField(
        Group.objects.order_by("name"),
        label=_("Groups"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("What they may do, by role. None is part of another."),
    )
    user_permissions = PermissionsField(
        label=_("Beyond their groups"),
        help_text=_("Best left empty; changing the baseline layers is given here, by hand."),
    )

    class Meta:
        model = User
        fields = (*accounts.USER_MEMBERS, "groups", "user_permissions")
        labels: ClassVar = {
            "is_active": _("May sign in (switch off instead of deleting)"),
            "is_staff": _("May use these pages"),
            "is_superuser": _("Superuser: may do everything, and manages people"),
        }
        help_texts: ClassVar = {"is_active": "", "is_staff": "", "is_superuser": "", "username": ""}


class NewUserForm(ServiceForm, AdminUserCreationForm):
    """A new person; what they may do is chosen on the next page."""

    def _post_clean(self) -> None:
        """Ask the password validators here too: they tell each person in their own language."""
        super()._post_clean()
        self.instance.username = self.cleaned_data.get("username", "")
        self.validate_password_for_user(self.instance)


class GroupForm(ServiceForm):
    """A role."""

    permissions = PermissionsField(label=_("Permissions"))

    class Meta:
        model = Group
        fields = ("name", "permissions")


class PasswordForm(AdminPasswordChangeForm):
    """Sets another person's password through the service."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Say the help anew: Django's is put together before a language is known."""
        super().__init__(*args, **kwargs)
        if "usable_password" in self.fields:
            self.fields["usable_password"].help_text = format_html(
                '{}<ul id="id_unusable_warning" class="messagelist"><li class="warning">{}</li>'
                "</ul>",
                SetUnusablePasswordMixin.usable_password_help_text,
                gettext("If disabled, the current password for this user will be lost."),
            )

    def save(self, commit: bool = True) -> User:
        """Let the service set it; `UserPage.get_object` noted who asks."""
        usable = self.cleaned_data["set_usable_password"]
        password = self.cleaned_data["password1"] if usable else None
        accounts.set_password(**vars(self.user)["asked"], user=self.user.pk, password=password)
        self.user.refresh_from_db()
        return cast("User", self.user)
