"""Why an answer is what it is, as pages show it: one component for every page that does."""
