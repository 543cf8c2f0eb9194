"""Which nodes are given up, and what takes their place: candidates, budgets, methods, and what they come to."""
