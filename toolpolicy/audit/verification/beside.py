"""What a process does that verifies beside another one, before it is given anything.

It knows no models: they can be imported only after that.
"""

import gc
import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

import django
from django.db import DEFAULT_DB_ALIAS, connections


def prepare(database: str) -> None:
    """Set Django up for the database of that name, and end when whoever started this ends."""
    # An interrupt goes to all processes of a terminal; the one that was started there answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    starter = multiprocessing.parent_process()
    if starter is not None:
        threading.Thread(target=_end_with, args=(starter,), daemon=True).start()
    django.setup()
    connections[DEFAULT_DB_ALIAS].settings_dict["NAME"] = database
    # What was made so far stays: the collector need not look through it again and again.
    gc.freeze()


def _end_with(starter: BaseProcess) -> None:
    starter.join()
    os._exit(1)
