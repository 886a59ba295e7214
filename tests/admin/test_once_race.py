"""Processes that are sent the same forms at the same time make each thing once."""

import json

from django.db import connection

from tests.store.test_races import output, start  # noqa: F401  (a fixture)

PROCESSES = 3
FORMS = 6
PREPARE = """
import django; django.setup()
from tests.admin.pages import superuser
superuser()
"""
PRESS = f"""
import django; django.setup()
import json
from django.contrib.auth.models import User
from django.test.utils import setup_test_environment
from tests.admin.pages import address, signed_in
from tests.admin.test_clients import KEY, NEW
setup_test_environment()
root = signed_in(User.objects.get())
keys = []
for number in range({FORMS}):
    page = root.post(address("apiclient", "add"), {{**NEW, "once": f"t{{number}}"}}, follow=True)
    keys += set(KEY.findall(page.content.decode()))
print(json.dumps(keys))
"""
MADE = """
import django; django.setup()
import json
from toolpolicy.models import ApiClient
print(json.dumps(ApiClient.objects.count()))
"""


def test_each_form_makes_one_key_and_every_press_is_shown_it(start):  # noqa: F811
    if connection.vendor == "sqlite":
        output(start("manage.py", "migrate", "--verbosity=0"))
    output(start("-c", PREPARE))
    pressed = [start("-c", PRESS) for _ in range(PROCESSES)]
    shown = [json.loads(output(one)) for one in pressed]
    assert len(set(shown[0])) == FORMS
    assert shown == [shown[0]] * PROCESSES
    assert json.loads(output(start("-c", MADE))) == FORMS
