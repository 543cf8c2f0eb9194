"""The node layer of a Kubernetes platform in one program: which nodes would be launched, at what price, and why not."""

__version__ = "0.1.0"
