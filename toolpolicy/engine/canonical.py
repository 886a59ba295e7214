"""Canonical JSON text and digests (SPEC §10): one value, one text, on every machine.

Keys by code point, no white space, UTF-8, numbers as the published design writes them (vectors
R17).
"""

import hashlib
import math
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

SMALLEST_INT = -(2**63)
LARGEST_INT = 2**64 - 1
# Below 10^16 and down to 10^-5 a double is written without an exponent.
_PLAIN_ABOVE = -5
_PLAIN_BELOW = 16


def number_text(value: float) -> str:
    """Return the JSON text of a number.

    Integers from -2^63 to 2^64-1 keep their digits; everything else is a double in shortest form.

    >>> [number_text(value) for value in (1000.0, 1e16, 0.00001, 1e-6, 2**64)]
    ['1000.0', '1e+16', '0.00001', '1e-6', '1.8446744073709552e+19']
    """
    if isinstance(value, int) and SMALLEST_INT <= value <= LARGEST_INT:
        return str(int(value))
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the doubles
        number = math.inf
    if not math.isfinite(number):
        msg = "NaN and infinities have no JSON text"
        raise ValueError(msg)
    return _double_text(number)


def _double_text(number: float) -> str:
    if number == 0:
        return "-0.0" if math.copysign(1, number) < 0 else "0.0"
    _, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)  # where the point stands, counted from the first digit
    sign = "-" if number < 0 else ""
    if not _PLAIN_ABOVE <= point - 1 < _PLAIN_BELOW:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        return f"{sign}{text[0]}{fraction}e{point - 1:+d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{text}"
    whole, fraction = text[:point].ljust(point, "0"), text[point:] or "0"
    return f"{sign}{whole}.{fraction}"


def dumps(value: Any) -> str:
    """Return the canonical text of a JSON value (dict, list, tuple, str, numbers, bool, None).

    Raises ValueError for what JSON cannot hold: NaN, infinities, lone surrogates, names that are no
    strings, other types.
    """
    parts: list[str] = []
    _write(value, parts)
    text = "".join(parts)
    try:
        text.encode()
    except UnicodeEncodeError:
        msg = "a lone surrogate has no UTF-8 form"
        raise ValueError(msg) from None
    return text


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(encode_basestring(value))
    elif value is None or isinstance(value, bool):
        out.append("null" if value is None else "true" if value else "false")
    elif isinstance(value, (int, float)):
        out.append(number_text(value))
    elif isinstance(value, dict):
        _write_object(value, out)
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for number, item in enumerate(value):
            out.append("," if number else "")
            _write(item, out)
        out.append("]")
    else:
        msg = f"{type(value).__name__} is no JSON value"
        raise ValueError(msg)


def _write_object(value: dict[Any, Any], out: list[str]) -> None:
    others = {type(key).__name__ for key in value if not isinstance(key, str)}
    if others:
        msg = f"{min(others)} is no name of a member"
        raise ValueError(msg)
    out.append("{")
    for number, key in enumerate(sorted(value)):
        out.append(("," if number else "") + encode_basestring(key) + ":")
        _write(value[key], out)
    out.append("}")


def digest(text: str) -> str:
    """Return `sha256:` and the hex digest of the UTF-8 bytes of `text`."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
