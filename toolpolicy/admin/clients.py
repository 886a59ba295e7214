"""API keys: made here and shown once, revoked here, never edited."""

import json
from datetime import timedelta
from typing import Any, Final

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin import marks, new_keys
from toolpolicy.admin.base import ServicePage, actor_of, by, framed, told
from toolpolicy.admin.choosing import Revoked
from toolpolicy.admin.client_forms import ClientForm
from toolpolicy.admin.once import press_of
from toolpolicy.admin.words import english, filled
from toolpolicy.engine.faults import printable
from toolpolicy.models import ApiClient
from toolpolicy.services import clients

_KEY = "toolpolicy_new_key"
SOON: Final = timedelta(days=14)


@admin.register(ApiClient)
class ClientPage(ServicePage):
    """Applications and their keys."""

    lead = _(
        "Applications that may ask. A key is shown once, when it is made; here is only its id."
    )
    form = ClientForm
    save_word = _("Make the key")
    stays = False
    list_display = ("called", "key", "standing", "may", "answers", "expires", "last_used")
    list_filter = (Revoked,)
    search_fields = ("name", "=key_id", "owner_label")
    search_help_text = _("Name, key id or owner")
    sortable_by = ("called",)
    actions = ("revoke",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Say no: a key is revoked, never edited; its records name what it was allowed."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiClient]:
        """Return keys, each with whether it has an end and a revocation, legible or not."""
        return clients.RECOGNISED.all()

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Show of a key that exists everything but its secret, which nobody has."""
        if obj is None:
            return ("name", "scopes", "pinned_context", "expires_at", "unending")
        return (
            *("called", "key", "standing", "may", "bound_to", "answers"),
            *("created", "expires", "last_used"),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Nothing of a key that exists can be changed."""
        return self.get_fields(request, obj) if obj else ()

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Offer the scopes that the person can give."""
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        form.offered = clients.givable(actor_of(request))
        return form

    # --- columns ---------------------------------------------------------------------------------

    @admin.display(description=_("name"), ordering="name")
    def called(self, client: ApiClient) -> str:
        """Name the application."""
        return printable(client.name)

    @admin.display(description=_("key"))
    def key(self, client: ApiClient) -> SafeString:
        """Show the key's id, which stands in the key itself."""
        return marks.code(client.key_id)

    @admin.display(description=_("state"))
    def standing(self, client: ApiClient) -> SafeString:
        """Tell a key that works from one that does not."""
        if _has("revocation", client):
            when = marks.moment(client.revoked_at) or marks.unreadable()
            return marks.row((marks.tag(gettext("revoked")), marks.sub(when)))
        left = client.expires_at - timezone.now() if client.expires_at else SOON
        if _has("end", client) and client.expires_at is None:
            left = timedelta()
        if left <= timedelta():
            return marks.tag(gettext("expired"), shape="clock", tone="deny")
        if left < SOON:
            return marks.tag(gettext("ends soon"), shape="clock", tone="ask")
        return marks.tag(gettext("works"), shape="yes")

    @admin.display(description=_("may"))
    def may(self, client: ApiClient) -> SafeString:
        """Show what the key may do."""
        return (
            marks.row(marks.tag(english(scope)) for scope in sorted(client.held)) or marks.nothing()
        )

    @admin.display(description=_("bound to"))
    def bound_to(self, client: ApiClient) -> SafeString:
        """Show the context that the key is bound to."""
        if not client.pinned_context:
            return marks.sub(gettext("nothing"))
        return marks.code(json.dumps(client.pinned_context, ensure_ascii=False))

    @admin.display(description=_("owner"))
    def answers(self, client: ApiClient) -> str:
        """Name who answers for the key."""
        return printable(client.owner_label)

    @admin.display(description=_("made"))
    def created(self, client: ApiClient) -> SafeString:
        """Say when the key was made."""
        return marks.moment(client.created_at)

    @admin.display(description=_("expires"))
    def expires(self, client: ApiClient) -> SafeString:
        """Say when the key ends."""
        if client.expires_at is None:
            return marks.unreadable() if _has("end", client) else marks.sub(gettext("never"))
        return marks.sub(
            filled(gettext("until %(when)s"), when=marks.moment(client.expires_at, seconds=False))
        )

    @admin.display(description=_("last used"))
    def last_used(self, client: ApiClient) -> SafeString:
        """Say when the key was used last, to the minute."""
        if client.last_used_at is None:
            return marks.sub(gettext("never used"))
        return marks.sub(
            filled(gettext("used %(when)s"), when=marks.moment(client.last_used_at, seconds=False))
        )

    # --- writes ----------------------------------------------------------------------------------

    def save_model(
        self, request: HttpRequest, obj: ApiClient, form: ClientForm, change: bool
    ) -> None:
        """Let the service make the key, and keep it for the answer to this very request."""
        press = press_of(request, actor_of(request))
        seed = press.seed if press else None
        client, key = clients.create(**by(request), values=form.new_values(), seed=seed)
        obj.pk = client.pk
        obj.refresh_from_db()
        vars(request)[_KEY] = key

    def response_add(self, request: HttpRequest, obj: ApiClient, *args: Any) -> HttpResponse:
        """Send the browser on to the page that shows the key: loading it again makes no other."""
        return new_keys.handed_over(request, obj, vars(request)[_KEY])

    def lead_again(self, request: HttpRequest, led_to: str) -> HttpResponse:
        """Show the one key that was made: who pressed twice has not seen it yet."""
        press = press_of(request, actor_of(request))
        made = clients.made_of(seed=press.seed, within=new_keys.SHOWN_FOR) if press else None
        if made is None:
            return super().lead_again(request, led_to)
        return new_keys.handed_over(request, *made)

    def get_urls(self) -> list[URLPattern]:
        """Add the page that shows a key once."""
        view = self.admin_site.admin_view(new_keys.shown_once(self))
        return [path("<int:pk>/key/", view, name=new_keys.NAME), *super().get_urls()]

    @admin.action(description=_("Revoke for good"), permissions=("change",))
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> HttpResponse | None:
        """Ask, then revoke the chosen keys, all or none."""
        if "sure" not in request.POST:
            shown = {"title": gettext("Revoke these keys for good?"), "clients": queryset}
            return framed(self, request, "apiclient/revoke", **shown)
        with told(request), transaction.atomic():
            for client in queryset:
                clients.revoke(**by(request), client=client.pk)
            names = ", ".join(str(one) for one in queryset)
            messages.success(request, gettext("Revoked: %(names)s.") % {"names": names})
        return None


def _has(what: str, client: ApiClient) -> bool:
    return bool(vars(client)[f"has_{what}"])
