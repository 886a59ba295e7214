"""`manage.py setup`: what a first start needs; every later one only says what is there."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from toolpolicy.engine.faults import said
from toolpolicy.services import policies, setup
from toolpolicy.services.actors import Actor
from toolpolicy.services.errors import InvalidInput
from toolpolicy.services.first_question import SERVER, curl_line


class Command(BaseCommand):
    """Install the baseline, and make the first administrator and the first API key."""

    help = (
        "Publish the baseline layers, and make an administrator and an API key. Their secrets are "
        "printed once. Run again, it changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Read the administrator's name and where the server will be."""
        parser.add_argument("--username", default="admin", help="the administrator's name")
        parser.add_argument("--url", default=SERVER, help="the server's address in the example")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what is missing and say what was done."""
        del args
        actor = Actor.system("setup")
        setup.setup(actor=actor)
        live = policies.live()
        self.stdout.write(f"policy: {live} is live")
        try:
            made = setup.first_administrator(username=options["username"])
        except InvalidInput as refused:
            raise CommandError(said(refused.faults)) from None
        owner = made[0] if made else None
        if made:
            self.stdout.write(f"administrator: {made[0].get_username()}, password {made[1]}")
            self.stdout.write("  the password is not shown again")
        else:
            self.stdout.write("administrator: there is one already")
        key = setup.first_key(actor=actor, owner=owner)
        if key:
            self._show_key(key, options["url"])
        else:
            self.stdout.write("API key: there is one already")

    def _show_key(self, key: str, url: str) -> None:
        self.stdout.write(f"API key: {key}")
        self.stdout.write("  the key is not shown again; a first question:\n")
        self.stdout.write(f"{curl_line(key, server=url)}\n")
