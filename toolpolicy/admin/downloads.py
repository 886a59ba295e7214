"""Files that pages offer to keep."""

from django.http import HttpResponse
from django.utils.http import content_disposition_header


def download(text: str, filename: str, content_type: str) -> HttpResponse:
    """Return an answer that the browser saves under this name."""
    file = content_disposition_header(as_attachment=True, filename=filename)
    headers = {"Content-Disposition": str(file), "Cache-Control": "no-store"}
    return HttpResponse(text, content_type=content_type, headers=headers)
