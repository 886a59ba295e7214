"""Lint: what in a policy cannot do what its author meant, each finding with witness and remedy.

What is claimed never to happen is proved for every registered tool, context and call; where that
cannot be proved, nothing is said.
"""
