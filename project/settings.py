"""Django's settings, all from the environment.

docs/operations.md lists the variables. A wrong one stops every command and the server with its
name, its value and what it may be.
"""

import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from project import rest
from project.env import Environment
from toolpolicy.conf import ToolPolicySettings

BASE_DIR = Path(__file__).resolve().parent.parent
_env = Environment(os.environ, BASE_DIR)

DEBUG = _env.flag("TOOLPOLICY_DEBUG")
SECRET_KEY = _env.secret(
    "SECRET_KEY",
    kept_in=BASE_DIR / ".secret_key" if DEBUG else None,
    make=lambda: secrets.token_urlsafe(64),
    advice="50 or more random characters",
)
# The private key that seals records: not in the database, so that its owner cannot rewrite them.
TOOLPOLICY_SEAL_KEY = _env.secret(
    "TOOLPOLICY_SEAL_KEY",
    kept_in=BASE_DIR / ".seal_key" if DEBUG else None,
    make=lambda: secrets.token_hex(32),
    advice="64 random hexadecimal digits, as `manage.py audit new-key` prints them",
)
ALLOWED_HOSTS = _env.words("TOOLPOLICY_ALLOWED_HOSTS", default=("localhost", "127.0.0.1", "[::1]"))
CSRF_TRUSTED_ORIGINS = _env.words("TOOLPOLICY_CSRF_TRUSTED_ORIGINS")
DATABASES = {"default": _env.database("DATABASE_URL", default="sqlite:///db.sqlite3")}
TOOLPOLICY: ToolPolicySettings = _env.toolpolicy()
if DEBUG and not TOOLPOLICY.checkpoint_file:
    TOOLPOLICY = replace(TOOLPOLICY, checkpoint_file=str(BASE_DIR / ".checkpoints/{log}.jsonl"))
_env.verify()

INSTALLED_APPS = [
    "toolpolicy.admin.apps.ToolPolicyAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "toolpolicy",
]
MIDDLEWARE = [
    # First, so that static files carry their headers too.
    "project.middleware.RequestOrigin",
    "project.middleware.ContentSecurityPolicy",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "project.middleware.AdminLanguage",
    "project.middleware.KnownHosts",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            # Every page says something: none has to load the tags of translation.
            "builtins": ["django.templatetags.i18n"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
REST_FRAMEWORK = rest.REST_FRAMEWORK
SPECTACULAR_SETTINGS = rest.SPECTACULAR_SETTINGS
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en"
USE_I18N = True
# The source, and what has a whole catalogue: docs/contributing.md says how to add one.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "toolpolicy" / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "project.formats"

STATIC_URL = "/static/"
# Served from where the applications keep them: no step to forget before a start.
WHITENOISE_USE_FINDERS = True
# Looking each file up when it is asked for is for development; a server indexes them once.
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False

SESSION_COOKIE_SECURE = not DEBUG
CSRF_COOKIE_SECURE = not DEBUG
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
if TOOLPOLICY.trusted_proxies:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SILENCED_SYSTEM_CHECKS = [
    # TLS ends at a proxy in front of the server, which owns the redirect and its HSTS header;
    # probes ask the server itself over plain HTTP.
    "security.W004",
    "security.W008",
]
# A layer's page sends every field of every rule; Django's 1000 would end at some 70 rules.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            # A traceback that others log must not show what a database said of a row.
            "()": "toolpolicy.database_errors.LineFormatter",
            "fmt": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    # Django's own handlers would write the same lines a second time.
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}},
}
