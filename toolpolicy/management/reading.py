"""Reading what a command is given, never more of it than will be used."""

from typing import BinaryIO

from toolpolicy.engine.faults import Fault, Faults


def read_within(stream: BinaryIO, size: int) -> bytes:
    """Return everything in the stream. Raise `Faults` when it holds more than `size` bytes."""
    data = stream.read(size + 1)
    if len(data) > size:
        message = f"the file has more than {size} bytes; at most {size} are read"
        raise Faults([Fault("", message, "too_large")])
    return data
