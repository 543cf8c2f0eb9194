"""Objects that the tests of the client libraries make."""

from typing import Any


def pool(name: str) -> dict[str, Any]:
    """A NodePool."""
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    requirement = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
    spec = {"weight": 10, "template": {"spec": {"nodeClassRef": reference, "requirements": [requirement]}}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def pod(name: str, **labels: str) -> dict[str, Any]:
    """A pod."""
    spec = {"containers": [{"name": "main", "image": "nginx:1.25"}]}
    metadata = {"name": name, "labels": {"app": name, **labels}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def deployment(replicas: int) -> dict[str, Any]:
    """A Deployment."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("web")["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
