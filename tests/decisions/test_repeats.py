"""A question repeated under its idempotency key: the same answer, unless it may be another."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.decisions.asking import ask
from tests.live import make_live, register, strict
from toolpolicy.engine.questions import parse_question
from toolpolicy.models import Freeze, Record
from toolpolicy.services import decisions
from toolpolicy.services.errors import InvalidInput

pytestmark = pytest.mark.django_db


class TestRepeats:
    def repeat(self, actor, digest="sha256:1", **members):
        question = parse_question({"surface": "call", "tool": "x", "arguments": {}, **members})
        key = decisions.Idempotency("key-1", digest)
        return decisions.decide(asker=actor, question=question, idempotency=key)

    def test_the_recorded_answer_is_given_again(self, client_actor):
        make_live([])
        first = self.repeat(client_actor)
        again = self.repeat(client_actor)
        assert again == first
        assert Record.objects.filter(kind="decision").count() == 1

    def test_after_a_publication_it_is_decided_anew(self, client_actor):
        make_live([])
        first = self.repeat(client_actor)
        make_live([strict({"effect": "deny", "match": {}})])
        again = self.repeat(client_actor)
        assert again.decision_id != first.decision_id
        assert again.outcome == "deny"

    def test_a_freeze_ends_an_earlier_allow(self, client_actor):
        make_live([])
        self.repeat(client_actor)
        Freeze.objects.create(kind="tool", value="x", reason="stop", created_by_label="x")
        assert self.repeat(client_actor).reason_code == "frozen"

    @pytest.mark.parametrize(
        ("bound", "effect", "answers"),
        [
            ("valid_from", "deny", ("allow", "deny")),
            ("valid_until", "deny", ("deny", "allow")),
            ("valid_from", "require_approval", ("allow", "needs_approval")),
            ("valid_from", "hide", ("allow", "allow")),
        ],
    )
    def test_what_time_made_another_answer_is_decided_anew(
        self, client_actor, monkeypatch, bound, effect, answers
    ):
        now = timezone.now()
        later = now + timedelta(minutes=1)
        make_live([strict({"effect": effect, "match": {}}, settings={bound: later.isoformat()})])
        first = self.repeat(client_actor)
        monkeypatch.setattr(timezone, "now", lambda: now + timedelta(minutes=2))
        again = self.repeat(client_actor)
        assert (first.outcome, again.outcome) == answers
        same = answers[0] == answers[1]
        assert (again.decision_id == first.decision_id) is same
        assert Record.objects.filter(kind="decision").count() == (1 if same else 2)

    def test_what_a_session_read_meanwhile_counts_for_a_repeat(self, client_actor):
        when = {"untrusted_content": "true"}
        make_live([strict({"effect": "deny", "match": {"name": "x"}, "when": when})])
        register("web", {"name": "x", "hints": {"open_world": False}}, {"name": "browse"})
        members = {"context": {"session": "s-1"}}
        first = self.repeat(client_actor, **members)
        assert self.repeat(client_actor, **members) == first
        ask(client_actor, tool="browse", **members)
        again = self.repeat(client_actor, **members)
        assert (first.outcome, again.outcome) == ("allow", "deny")
        assert self.repeat(client_actor, **members) == again

    def test_the_key_with_another_body_is_refused(self, client_actor):
        make_live([])
        self.repeat(client_actor)
        with pytest.raises(InvalidInput) as refused:
            self.repeat(client_actor, digest="sha256:2")
        assert refused.value.faults[0].code == "idempotency_key_reused"
