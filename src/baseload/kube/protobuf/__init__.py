"""Kubernetes' protobuf encoding of its own kinds, read into the JSON that the same client would have sent."""
