"""A region of EC2 that is made up: its market, its machines, and what goes wrong. It knows nothing of Kubernetes."""
