"""How long merging takes: server-side apply, the tracking of updates and strategic patches, on a Deployment of 3 kB.

    python -m benchmarks.merge

Processor time of one call, the best of several rounds. Nothing is asserted; the figures are for reading.
"""

import gc
from collections.abc import Callable

import msgspec

from baseload.kube.merge import apply, strategic, types
from baseload.kube.merge.tree import Object
from baseload.values import instant
from benchmarks import measure, report

ROUNDS, CALLS = 7, 200
NOW = instant.parse("2026-11-30T12:00:00Z")


def container(name: str, image: str) -> Object:
    """A container as people write them."""
    return {
        "name": name,
        "image": image,
        "args": ["--log-level=info", f"--listen=:8080/{name}", "--config=/etc/app/config.yaml"],
        "ports": [{"containerPort": 8080, "name": "http"}, {"containerPort": 9090, "name": "metrics"}],
        "env": [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(8)],
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "livenessProbe": {"httpGet": {"path": "/live", "port": "http"}, "initialDelaySeconds": 10},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}, {"name": "tmp", "mountPath": "/tmp"}],
        "securityContext": {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
    }


def deployment(image: str = "registry.example.com/shop/web:1.4.2", replicas: int = 3) -> Object:
    """A Deployment with two containers."""
    labels = {f"app.kubernetes.io/{key}": "web" for key in ("name", "instance", "component", "part-of")}
    volumes = [{"name": "config", "configMap": {"name": "web"}}, {"name": "tmp", "emptyDir": {}}]
    spec: Object = {
        "serviceAccountName": "web",
        "containers": [container("web", image), container("proxy", "registry.example.com/mesh/proxy:2.0.1")],
        "volumes": volumes,
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "web", "effect": "NoSchedule"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": labels, "annotations": {"team": "shop"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def calls() -> dict[str, Callable[[], object]]:
    """What is measured, on a live object with two managers."""
    kind = types.of_kind("apps/v1", "Deployment")
    assert kind is not None
    live = apply.apply(None, deployment(), kind=kind, manager="kubectl", now=NOW)
    status = {"replicas": 3, "readyReplicas": 3, "conditions": [{"type": "Available", "status": "True"}]}
    ready = {**live, "status": status}
    live = apply.managed_after_update(live, ready, kind=kind, manager="ctl", now=NOW, subresource="status")
    same, changed, less = deployment(), deployment(image="registry.example.com/shop/web:1.4.3"), deployment()
    del less["spec"]["template"]["spec"]["containers"][1]["env"][3:]  # type: ignore[index]
    scaled = {**live, "spec": {**deployment(replicas=5)["spec"]}}  # type: ignore[dict-item]
    image = {"name": "web", "image": "registry.example.com/shop/web:1.4.3"}
    patch = {"spec": {"template": {"spec": {"containers": [image]}}}}
    return {
        "apply: nothing changed": lambda: apply.apply(live, same, kind=kind, manager="kubectl", now=NOW),
        "apply: another image": lambda: apply.apply(live, changed, kind=kind, manager="kubectl", now=NOW),
        "apply: five variables less": lambda: apply.apply(live, less, kind=kind, manager="kubectl", now=NOW),
        "apply: a new object": lambda: apply.apply(None, same, kind=kind, manager="kubectl", now=NOW),
        "update: replicas, a fresh tree": lambda: apply.managed_after_update(
            live, scaled, kind=kind, manager="hpa", now=NOW
        ),
        "strategic patch: an image": lambda: strategic.patched(live, patch, api_version="apps/v1", kind="Deployment"),
    }


def best(call: Callable[[], object]) -> float:
    """Microseconds of one call."""

    def many() -> None:
        for _ in range(CALLS):
            call()

    call()
    return min(measure.timed(many)[0] for _ in range(ROUNDS)) / CALLS * 1e6


def main() -> None:
    gc.freeze()
    rows = [(name, f"{best(call):,.0f}") for name, call in calls().items()]
    size = len(msgspec.json.encode(deployment()))
    print(f"A Deployment of {size:,} bytes on a live object with two managers.\n{measure.machine()}.\n")
    print(report.table(("call", "µs"), rows))


if __name__ == "__main__":
    main()
