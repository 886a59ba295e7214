"""Typed readers of the environment.

They note every fault instead of stopping at the first one; `verify()` then raises them together,
each with its variable and the fix. An empty variable counts as not set.
"""

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from project.database import parse_database_url
from toolpolicy.conf import (
    ToolPolicySettings,
    WrongSetting,
    setting_rules,
    wrong_settings,
)
from toolpolicy.setting_rules import FALSE_WORDS, TRUE_WORDS

# What stands in for a faulty value until `verify()` refuses the whole.
NO_SECRET = ""


class Environment:
    """The settings that a mapping of environment variables gives, and what is wrong with it."""

    def __init__(self, variables: Mapping[str, str], base: Path) -> None:
        self._variables = {name: text for name, text in variables.items() if text.strip()}
        self._base = base
        self._faults: list[str] = []

    def flag(self, name: str) -> bool:
        """Return a switch that is off unless it is set."""
        word = self._variables.get(name, "0").strip().lower()
        if word not in TRUE_WORDS | FALSE_WORDS:
            self._faults.append(f"{name} is `{word}`; it may be 1 (on) or 0 (off)")
        return word in TRUE_WORDS

    def words(self, name: str, *, default: tuple[str, ...] = ()) -> list[str]:
        """Return the words of a comma-separated list."""
        text = self._variables.get(name, ",".join(default))
        return [word for part in text.split(",") if (word := part.strip())]

    def database(self, name: str, *, default: str) -> dict[str, Any]:
        """Return Django's description of the database that an address names."""
        try:
            return parse_database_url(self._variables.get(name, default), self._base)
        except ValueError as fault:
            self._faults.append(f"{name} {fault}")
            return {}

    def secret(
        self, name: str, *, kept_in: Path | None, make: Callable[[], str], advice: str
    ) -> str:
        """Return a secret from `name`, or from the file that `name`_FILE names.

        With neither, `make` one and keep it in the file `kept_in`; without that, it is a fault
        whose message has the `advice` what to give.
        """
        if name in self._variables:
            return self._variables[name]
        if f"{name}_FILE" in self._variables:
            return self._read_secret(f"{name}_FILE")
        if kept_in is not None:
            return _kept_secret(kept_in, make)
        self._faults.append(
            f"{name} is not set; give it {advice}, or the path of a file that holds them as "
            f"{name}_FILE, or set TOOLPOLICY_DEBUG=1 on your own machine"
        )
        return NO_SECRET

    def toolpolicy(self) -> ToolPolicySettings:
        """Return the product's own settings; a faulty one stands at its default."""
        given: dict[str, Any] = {}
        for name, variable, rule in setting_rules():
            text = self._variables.get(variable)
            if text is None:
                continue
            try:
                given[name] = rule.parse(text.strip())
            except ValueError:
                wrong = WrongSetting(variable=variable, value=text, allowed=rule.allowed)
                self._faults.append(str(wrong))
        values = ToolPolicySettings(**given)
        self._faults.extend(str(wrong) for wrong in wrong_settings(values))
        return values

    def verify(self) -> None:
        """Raise ImproperlyConfigured with every fault the readers met."""
        if self._faults:
            raise ImproperlyConfigured("wrong settings:\n  " + "\n  ".join(self._faults))

    def _read_secret(self, name: str) -> str:
        path = self._variables[name]
        try:
            text = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as fault:
            self._faults.append(f"{name} is `{path}`, which cannot be read: {fault}")
            return NO_SECRET
        if not text:
            self._faults.append(f"{name} is `{path}`, which is empty; put the secret in it")
        return text


def _kept_secret(path: Path, make: Callable[[], str]) -> str:
    """Return the secret kept in a file that only its owner reads, made by whoever comes first."""
    if not path.exists():
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        fresh.touch(mode=0o600)
        fresh.write_text(make() + "\n", encoding="utf-8")
        # Linked whole: of two servers that start at once, both read the first one's secret.
        with suppress(FileExistsError):
            path.hardlink_to(fresh)
        fresh.unlink()
    return path.read_text(encoding="utf-8").strip()
