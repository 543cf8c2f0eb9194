"""A Kubernetes cluster inside this program: a store of objects, and in time an API and actors on top of it."""
