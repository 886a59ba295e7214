"""What a process does that verifies beside another one, before it is given anything.

It knows no models: they can be imported only after that.
"""

import gc
import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

from django.apps import AppConfig, apps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.log import configure_logging


def prepare(database: str) -> None:
    """Set Django up for the database of that name, and end when whoever started this ends."""
    # An interrupt goes to all processes of a terminal; the one that was started there answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    starter = multiprocessing.parent_process()
    if starter is not None:
        threading.Thread(target=_end_with, args=(starter,), daemon=True).start()
    _set_up()
    connections[DEFAULT_DB_ALIAS].settings_dict["NAME"] = database
    # What was made so far stays: the collector need not look through it again and again.
    gc.freeze()


def _set_up() -> None:
    """Do as `django.setup` does, but for the pages of the admin: half the start is to make them."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    found = [AppConfig.create(entry) for entry in settings.INSTALLED_APPS]
    for config in found:
        if config.label == "admin":
            vars(config)["ready"] = lambda: None
    apps.populate(found)


def _end_with(starter: BaseProcess) -> None:
    starter.join()
    os._exit(1)
