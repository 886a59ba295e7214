"""The settings of the command that makes a server's first key: there is none yet to demand.

`manage.py` alone chooses them, for that command alone. It reads no database and serves nobody;
what would need a key meets one that is thrown away with the process.
"""

import secrets
from typing import Any

from toolpolicy.conf import ToolPolicySettings

SECRET_KEY = secrets.token_urlsafe(64)
TOOLPOLICY_SEAL_KEY = secrets.token_hex(32)
TOOLPOLICY = ToolPolicySettings()
DATABASES: dict[str, Any] = {}
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "toolpolicy"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
