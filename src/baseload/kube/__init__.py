"""Kubernetes objects: manifests as bytes, a slim typed reading of them, and the schemas they are held to."""
