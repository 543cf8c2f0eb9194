"""What keeps a model in step with a cluster, and what acts on it."""
