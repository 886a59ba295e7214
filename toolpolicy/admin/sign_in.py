"""Signing in: Django's page, with a record of each try and a wait after too many."""

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.views import LoginView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import ngettext

from toolpolicy.services import sign_ins
from toolpolicy.services.actors import Actor
from toolpolicy.services.origins import origin_of

TOO_MANY = 429


class SignInForm(AdminAuthenticationForm):
    """Name and password. While somebody has to wait, the password is not looked at."""

    attempt: sign_ins.Attempt | None = None

    def clean(self) -> dict[str, Any]:
        """Count the try, then let Django look at it."""
        name, password = (self.cleaned_data.get(field) for field in ("username", "password"))
        if not name or not password:
            return super().clean()
        self.attempt = sign_ins.begin(name=name, origin=origin_of(self.request))
        if self.attempt.wait:
            said = ngettext(
                "Too many sign-ins failed from where you are. Try again in %(count)s minute.",
                "Too many sign-ins failed from where you are. Try again in %(count)s minutes.",
                self.attempt.wait,
            )
            raise forms.ValidationError(said % {"count": self.attempt.wait}, code="waiting")
        try:
            return super().clean()
        except forms.ValidationError:
            right = self.user_cache is not None
            sign_ins.failed(attempt=self.attempt, right_password=right)
            raise


class SignInView(LoginView):
    """The page of signing in."""

    authentication_form = SignInForm
    template_name = "admin/login.html"
    request: HttpRequest

    def form_valid(self, form: SignInForm) -> HttpResponse:  # type: ignore[override]
        """Sign in, with its record or not at all."""
        with transaction.atomic():
            response = super().form_valid(form)
            assert form.attempt is not None  # noqa: S101  (a form without a name is not valid)
            sign_ins.signed_in(actor=Actor.for_user(form.get_user()), attempt=form.attempt)
        return response

    def form_invalid(self, form: SignInForm) -> HttpResponse:  # type: ignore[override]
        """Say what is wrong; to whom has to wait, by the status too."""
        response = super().form_invalid(form)
        if form.attempt is not None and form.attempt.wait:
            response.status_code = TOO_MANY
            response["Retry-After"] = str(form.attempt.wait * 60)
        return response
