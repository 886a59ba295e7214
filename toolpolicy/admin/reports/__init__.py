"""The auditor's pages: reports of a period, and what could be done at a point in time."""
