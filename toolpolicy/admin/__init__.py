"""The pages of people. They show and ask; every write goes to a service.

`toolpolicy.admin.apps` is imported before any model is, so nothing is imported here.
"""
