"""What the admin's pages share: who acts, and how what a service refuses comes back to the form."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from toolpolicy.admin.faults import SEEN, PlainForm, ServiceForm
from toolpolicy.admin.once import lead_there, once, press_of, token_of
from toolpolicy.admin.words import Words, english
from toolpolicy.services.actors import Actor, Origin
from toolpolicy.services.errors import ServiceError
from toolpolicy.services.origins import origin_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser

Extra = dict[str, Any] | None
_REFUSED = "toolpolicy_refused"


def actor_of(request: HttpRequest) -> Actor:
    """Return the signed-in person as an actor."""
    return Actor.for_user(cast("AbstractUser", request.user))


def by(request: HttpRequest) -> dict[str, Any]:
    """Return who asks and from where, as the services take it."""
    origin: Origin = origin_of(request)
    return {"actor": actor_of(request), "origin": origin}


def seen_version(request: HttpRequest, stands: int) -> int:
    """Return the version that the person saw, as a confirmation sends it; else what stands."""
    text = request.POST.get(SEEN, "")
    return int(text) if text.isascii() and text.isdigit() else stands


@contextmanager
def told(request: HttpRequest) -> Iterator[None]:
    """Turn what a service refuses into messages on the next page, for acts that have no form."""
    try:
        yield
    except ServiceError as refused:
        for fault in refused.faults:
            messages.error(request, english(capfirst(fault.message)))


def framed(
    page: admin.ModelAdmin, request: HttpRequest, template: str, **shown: Any
) -> TemplateResponse:
    """Show a template of ours in the frame of a model's pages; `shown` has its `title`."""
    context = {**page.admin_site.each_context(request), "opts": page.opts, **shown}
    return TemplateResponse(request, f"admin/toolpolicy/{template}.html", context)


class Page(admin.ModelAdmin):
    """The pages of one model: a heading, one line that says what it is about, a list."""

    lead: ClassVar[Words] = ""
    show_facets = ShowFacets.NEVER
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    empty_value_display = ""
    view_on_site = False

    @property
    def media(self) -> forms.Media:
        """Load what the list's actions need, and none of Django's older scripts."""
        return forms.Media(js=("admin/js/actions.js",) if self.actions else ())

    def changelist_view(self, request: HttpRequest, extra_context: Extra = None) -> HttpResponse:
        """Show the list under the model's name; Django's title says "select one to change"."""
        head = {"title": capfirst(str(self.opts.verbose_name_plural)), "lead": self.lead}
        return super().changelist_view(request, {**head, **(extra_context or {})})


class ReadOnlyPage(Page):
    """Pages that only show: three small methods say so, whatever permissions somebody holds."""

    form = PlainForm

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ServicePage(Page):
    """Pages whose writes go to services, from `save_model` and `delete_model`.

    What a service refuses ends the attempt and its transaction. The page is then built again from
    the same input with the faults on their fields, so nothing that was typed is lost.
    `save_word` is what the button says; `stays` offers to save and go on.
    """

    save_word: ClassVar[Words] = _("Save")
    stays: ClassVar[bool] = True

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """Return the form; on the second attempt it knows what the service refused.

        Django leaves a declared field in the form where the page does not show it. It would then
        be read as empty, so it is taken out.
        """
        form = super().get_form(request, obj, change=change, **kwargs)
        if kwargs.get("fields", ()) is None:  # asked by `get_fields`, for all there are
            return form
        shown = {SEEN, *flatten_fieldsets(self.get_fieldsets(request, obj))}
        if change and not self.has_change_permission(request, obj):
            shown = set()
        for name in form.base_fields.keys() - shown:
            del form.base_fields[name]
        if issubclass(form, ServiceForm):
            form.refused = vars(request).get(_REFUSED)
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Extra = None,
    ) -> HttpResponse:
        """Show the form, or save it; see the class. A new thing is made once."""
        view = super().changeform_view

        def act() -> HttpResponse:
            try:
                return view(request, object_id, form_url, extra_context)
            except ServiceError as refused:
                vars(request)[_REFUSED] = refused
            return view(request, object_id, form_url, extra_context)

        if object_id is not None:
            return act()
        press = press_of(request, actor_of(request))
        return once(press, act, lambda led_to: self.lead_again(request, led_to))

    def lead_again(self, request: HttpRequest, led_to: str) -> HttpResponse:
        """Answer a form that was sent before, and led there then."""
        return lead_there(request, led_to)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Extra = None
    ) -> HttpResponse:
        """Ask, then delete; what the service refuses is said on the page it came from."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except ServiceError as refused:
            for fault in refused.faults:
                messages.error(request, english(capfirst(fault.message)))
        return HttpResponseRedirect(request.path)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Name the act on the button."""
        context["save_word"] = self.save_word
        if kwargs["add"]:
            context["once"] = token_of(request)
        if not self.stays:
            context["show_save_and_continue"] = False
        return super().render_change_form(request, context, *args, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save nothing: the service has saved all of it."""
