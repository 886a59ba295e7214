"""The product's settings as the tests need them.

A developer's own `TOOLPOLICY_` variables stay out; `DATABASE_URL` stays, so that the suite also
runs on PostgreSQL.
"""

import os
from dataclasses import replace

from toolpolicy.checks import TEST_VARIABLES
from toolpolicy.conf import PREFIX, ToolPolicySettings

for _name in [name for name in os.environ if name.startswith(PREFIX)]:
    if _name not in TEST_VARIABLES:
        del os.environ[_name]
os.environ["SECRET_KEY"] = "only-for-tests-" + "0123456789abcdefghijklmnopqrstuvwxyz"
os.environ["TOOLPOLICY_SEAL_KEY"] = "5e" * 32

from project import settings as _product  # noqa: E402

globals().update({name: value for name, value in vars(_product).items() if name.isupper()})

# Said again for the type checker, which reads this module without running it.
TOOLPOLICY: ToolPolicySettings = replace(_product.TOOLPOLICY, seal_in_process=False)
TOOLPOLICY_SEAL_KEY: str = os.environ["TOOLPOLICY_SEAL_KEY"]

# Indexing all static files anew for each test client is slow.
WHITENOISE_AUTOREFRESH = True
# Passwords in tests guard nothing.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
