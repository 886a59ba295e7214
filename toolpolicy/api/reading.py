"""A request's body: bounded, read strictly, its media type checked first."""

from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from django.http import HttpRequest

from toolpolicy.api.problems import problem
from toolpolicy.conf import conf
from toolpolicy.engine.faults import Fault, Faults, shown
from toolpolicy.engine.strictjson import Limits, loads

JSON: Final = "application/json"
UTF_8: Final = "utf-8"
IDENTITY: Final = "identity"
TOO_LARGE: Final = "too_large"


@dataclass(frozen=True, slots=True)
class Cap:
    """What a body may be: the setting that bounds its bytes, its nesting and its tokens."""

    setting: str
    depth: int
    tokens: int

    @property
    def limits(self) -> Limits:
        """The caps as the parser takes them, at the setting as it stands now."""
        return Limits(size=getattr(conf(), self.setting), depth=self.depth, tokens=self.tokens)


NORMAL: Final = Cap("max_body_bytes", 32, 100_000)
BATCH: Final = Cap("max_batch_bytes", 36, 800_000)
IMPORT: Final = Cap("max_import_bytes", 64, 4_000_000)


class Readable(Protocol):
    """Something that bytes are read from."""

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes."""


def read_body(request: HttpRequest, cap: Cap) -> bytes:
    """Return the body's bytes; one byte beyond the cap ends the reading.

    Raise a problem: 415 for another media type than JSON, 413 for too many bytes.
    """
    _check_media_type(request)
    most = cap.limits.size
    data = _source(request).read(most + 1)
    if len(data) > most:
        fault = Fault("", f"the body has more than {most} bytes", TOO_LARGE)
        raise problem(TOO_LARGE, fault.message, faults=(fault,))
    return data


def parse(data: bytes, cap: Cap) -> Any:
    """Return the JSON value of a body. Raise a problem that names every fault: 413 or 400."""
    try:
        return loads(data, cap.limits)
    except Faults as error:
        code = TOO_LARGE if error.faults[0].code == TOO_LARGE else "malformed"
        detail = "the body is not read as JSON, see `errors`"
        raise problem(code, detail, faults=error.faults) from None


def _check_media_type(request: HttpRequest) -> None:
    media_type = (request.content_type or "").lower()
    charset = (request.content_params or {}).get("charset", UTF_8).lower()
    encoding = request.headers.get("Content-Encoding", IDENTITY).lower()
    if (media_type, charset, encoding) == (JSON, UTF_8, IDENTITY):
        return
    sent = [word for word in (media_type, charset, encoding) if word not in (UTF_8, IDENTITY, "")]
    said = f", not as {shown(' '.join(sent))}" if sent else ""
    detail = f"send the body as `{JSON}`, in UTF-8, not compressed{said}"
    raise problem("unsupported_media_type", detail)


def _source(request: HttpRequest) -> Readable:
    # Django believes Content-Length alone and reads nothing of a chunked body. A server that says
    # that its stream ends by itself is read until that end.
    if request.META.get("wsgi.input_terminated"):
        return cast("Readable", request.META["wsgi.input"])
    return request
