import os

import pytest

from tests.admin.pages import decide, signed_in, superuser
from tests.admin.recorded import record_of
from tests.factories import SYSTEM, make_layer, make_rule
from tests.registry.samples import imported, named, tool
from toolpolicy.models import Tool
from toolpolicy.services import policies


@pytest.fixture
def root(db):
    """Somebody who may do everything, signed in."""
    return signed_in(superuser())


@pytest.fixture
def baseline(db):
    """Publish the policy of a first start."""
    return policies.install_baseline(actor=SYSTEM)


@pytest.fixture
def kit(db):
    """Import a few tools, and make rules about them."""
    imported(
        {
            "tools": [
                tool("read_mail", annotations={"readOnlyHint": True}),
                tool("send_mail"),
                tool("wipe", annotations={"destructiveHint": True}),
            ]
        },
        family="mail",
    )
    layer = make_layer("house rules")
    make_rule(layer, id="mails", match={"name": "*_mail"}, when={"channel": "x"})
    make_rule(layer, id="finance", effect="require_approval", match={"tags": ["finance"]})
    make_rule(layer, id="off", match={"name": "wipe"}, enabled=False)
    return {one.name: one for one in Tool.objects.all()}


@pytest.fixture
def house(db):
    """Keep production data by a rule that looks at an argument."""
    layer = make_layer("house rules")
    make_rule(
        layer,
        id="no-drops",
        match={"name": "drop_*", "arg": {"pointer": "/database", "value": "prod*"}},
        reason="production data is kept",
    )
    make_rule(layer, id="never", match={"name": "never"})
    return layer


@pytest.fixture
def layer(db):
    """Refuse to drop things."""
    found = make_layer("house rules")
    make_rule(found, id="no-drops", match={"name": "drop_*"}, reason="production data is kept")
    return found


@pytest.fixture
def dropped(layer):
    """Record a call that was refused."""
    imported(named("drop_table", "read_table"), family="db")
    context = {"agent": "coder", "channel": "web", "session": "s-1"}
    return record_of(decide("drop_table", arguments={"database": "prod"}, context=context))


@pytest.fixture(scope="module")
def browser():
    # Absent where only requirements.txt is installed.
    from tests.admin.browser import running_browser  # noqa: PLC0415

    # Playwright keeps a loop running in this thread; Django would refuse every query beside it.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with running_browser() as running:
        yield running
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def watched(browser, live_server):
    """Give a page on which somebody who may do everything is signed in; it may not complain."""
    from tests.admin.browser import Watched  # noqa: PLC0415

    superuser()
    found = Watched(browser, live_server.url)
    found.sign_in("root")
    yield found
    found.page.context.close()
    assert found.complaints == []
