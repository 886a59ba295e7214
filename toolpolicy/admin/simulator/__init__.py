"""The simulator: ask what would happen. Nothing is called; the answer is a record."""
