"""The thread that seals in a server without a worker."""

import os
import threading

from toolpolicy.conf import conf

_running_in: set[int] = set()


def keep_in_background() -> None:
    """Keep the log in a thread, started on the first call in each process; see `keeping`.

    A server calls it when it starts, and every process when it has written a record.
    """
    process = os.getpid()
    if process in _running_in or not conf().seal_in_process:
        return
    _running_in.add(process)
    threading.Thread(target=_keep, name="sealer", daemon=True).start()


def _keep() -> None:
    # It writes records, and who writes records starts it.
    from toolpolicy.audit.keeping import keep_on  # noqa: PLC0415

    keep_on()
