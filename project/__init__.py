"""The Django project around `toolpolicy`: settings, addresses, the server's entry."""
