"""The decision engine: layered rules and ordered policies over tool subjects, as pure functions.

Standard library only: no Django, no database, no clock, no I/O, so that any plain process can
judge a tool with it. What a decision means is written in `docs/semantics.md`; the files are listed
in this folder's README. A minimal use::

    >>> from toolpolicy.engine.documents import parse_layers
    >>> from toolpolicy.engine.evaluate import compile_policy, evaluate
    >>> from toolpolicy.engine.subjects import parse_subject
    >>> rules = [{"name": "base", "rules": [{"effect": "deny", "match": {"name": "rm_*"}}]}]
    >>> policy = compile_policy(parse_layers(rules))
    >>> evaluate(policy, parse_subject({"name": "rm_all"}), {}, "call").callable
    False
"""
