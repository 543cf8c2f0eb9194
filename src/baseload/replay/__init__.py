"""Scenarios: a cluster's life that is written down, lived through on a virtual clock, and judged."""
