"""The server's entry: `gunicorn project.wsgi`."""

import os

from django.core.management.base import BaseCommand
from django.core.wsgi import get_wsgi_application

from toolpolicy.audit.background import keep_in_background
from toolpolicy.checks import SETTINGS_TAG

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

application = get_wsgi_application()
# Commands judge the settings before they run; a server does the same and does not start wrong.
BaseCommand().check(tags=[SETTINGS_TAG])
# From the start on, not from its first record: what a server before it left has to be sealed too.
keep_in_background()
