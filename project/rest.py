"""Settings of the REST face and of its OpenAPI description."""

from typing import Any

REST_FRAMEWORK: dict[str, Any] = {
    # Closed, and without anybody known, unless a view says otherwise: every address of the API
    # is a `toolpolicy.api.base.ApiView`.
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["toolpolicy.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "toolpolicy.api.failures.handle",
    # A form of the answer is chosen by `Accept` alone.
    "URL_FORMAT_OVERRIDE": None,
}

DESCRIPTION = """\
Decides which tools an AI agent may see and call, and records every answer.

Send an API key as `Authorization: Bearer <key>`. Each operation names the scope that the key needs.
Whatever is refused is a problem document (RFC 9457): its `errors` name every fault with its place,
its `type` is the path of the page that explains it. A body that is no JSON is refused with 400, one
that says something wrong with 422, one that is too large with 413. An unknown member, an unknown
query parameter, a number or text that cannot be kept exactly: each is a fault, nothing is ignored.

`X-Request-ID` (1 to 64 of `A-Z a-z 0-9 . _ -`) is repeated in the answer and kept in the records;
without one, the server makes one.
"""

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "toolpolicy",
    "DESCRIPTION": DESCRIPTION,
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": False,
    # Words stand where they are used; components named after choices would need a list of names.
    "POSTPROCESSING_HOOKS": ["toolpolicy.api.schema.tidy"],
    "TAGS": [
        {"name": "decisions", "description": "May this tool be listed, found, called?"},
        {"name": "policy", "description": "What is live, and what was."},
        {"name": "layers", "description": "The layers of the working policy."},
        {"name": "rules", "description": "Their rules."},
        {"name": "registry", "description": "Registered tools, the authority on what a tool is."},
        {"name": "records", "description": "What was decided and done."},
        {"name": "audit", "description": "Reports, evidence, legal holds."},
        {"name": "freezes", "description": "Emergency stops."},
        {"name": "clients", "description": "API keys."},
        {"name": "health", "description": "For probes."},
    ],
    # The pages' scripts come from this server: they work offline and under the strict policy.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
}
