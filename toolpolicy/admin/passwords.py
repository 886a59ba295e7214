"""Changing one's own password: Django's page, our service and its record."""

from django.contrib.admin.forms import AdminPasswordChangeForm
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse_lazy

from toolpolicy.admin.base import by
from toolpolicy.services import accounts


class OwnPasswordView(PasswordChangeView):
    """The page of one's own password."""

    form_class = AdminPasswordChangeForm
    template_name = "registration/password_change_form.html"
    success_url = reverse_lazy("admin:password_change_done")
    request: HttpRequest

    def form_valid(self, form: AdminPasswordChangeForm) -> HttpResponse:  # type: ignore[override]
        """Let the service set it, and stay signed in."""
        password = form.cleaned_data["new_password1"]
        accounts.set_password(**by(self.request), user=form.user.pk, password=password)
        form.user.refresh_from_db()
        update_session_auth_hash(self.request, form.user)
        return HttpResponseRedirect(str(self.success_url))
