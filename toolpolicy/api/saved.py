"""Answers to changes of the policy: what was saved, and the version in which it is live."""

from typing import Any

from rest_framework.response import Response

from toolpolicy.api.preconditions import tag_of
from toolpolicy.api.shapes.policy import LayerShape, RuleShape
from toolpolicy.models import Layer, PolicyVersion, Rule
from toolpolicy.services.errors import NotFound
from toolpolicy.services.policies import Saved


def place_of(version: PolicyVersion | None) -> dict[str, Any]:
    """Return how answers name a version: what `min_policy_version` of a decision takes."""
    if version is None:
        return {"version": None, "digest": None}
    return {"version": version.number, "digest": version.document_id}


def shown_layer(layer: Layer | None) -> Response:
    """Return a layer with its entity tag. Raise NotFound where there is none."""
    if layer is None:
        raise NotFound("such layer")
    return Response(LayerShape(layer).data, headers={"ETag": tag_of(layer.version)})


def shown_rule(rule: Rule | None) -> Response:
    """Return a rule with the entity tag of its layer. Raise NotFound where there is none."""
    if rule is None:
        raise NotFound("such rule")
    return Response(RuleShape(rule).data, headers={"ETag": tag_of(rule.layer.version)})


def saved_layer(saved: Saved, status: int = 200) -> Response:
    """Return a layer that was saved."""
    return _with_place(shown_layer(saved.layer), saved, status)


def saved_rule(saved: Saved, status: int = 200) -> Response:
    """Return a rule that was saved."""
    return _with_place(shown_rule(saved.rule), saved, status)


def published(saved: Saved) -> Response:
    """Return what a change came to that leaves nothing to show."""
    return Response({"changed": saved.changed, "policy": place_of(saved.version)})


def _with_place(response: Response, saved: Saved, status: int) -> Response:
    response.data = {**response.data, "policy": place_of(saved.version)}
    response.status_code = status
    return response
