"""The journal of a run: what happened, when, to whom and why, one line each."""
