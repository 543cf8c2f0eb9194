"""The service account that a pod runs as: it must be there, and its token is mounted in every container.

A real server names the volume of the token at random for each pod. Here the account's uid decides the name, so that
pods that are written alike stay alike, and are held once.
"""

from functools import lru_cache
from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import Tree, maps
from baseload.embedded.store import names
from baseload.embedded.store.record import Json, Record

_DEFAULT: Final = "default"
_VOLUME: Final = "kube-api-access-"
_MOUNTED_AT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_MIRROR: Final = "kubernetes.io/config.mirror"
_SECONDS: Final = 3607  # an hour and a little, by which a kubelet tells these tokens from others


def give_account(review: Review) -> None:
    """Fills in a new pod's service account, its token and its image pull secrets."""
    if review.operation != "CREATE" or not review.is_of("", "Pod") or review.is_seed:
        return
    spec = review.spec
    if _is_mirror(review.tree):
        return
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"] = _DEFAULT
    name = str(spec["serviceAccountName"])
    account = review.store.find(review.resource("", "ServiceAccount"), review.namespace, name)
    if account is None:
        where = f"{review.namespace}/{name}"
        raise review.refused(f'error looking up service account {where}: serviceaccount "{name}" not found')
    if _wants_token(spec, account):
        _mount(spec, _volume_name(account.uid))
    if not spec.get("imagePullSecrets") and b'"imagePullSecrets"' in account.body.raw:
        spec["imagePullSecrets"] = account.body.tree().get("imagePullSecrets")


def _is_mirror(tree: Tree) -> bool:
    metadata = tree.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and _MIRROR in annotations


def _wants_token(spec: Tree, account: Record) -> bool:
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        return account.body.field("automountServiceAccountToken") != "false"
    return wanted is not False


@lru_cache(maxsize=1 << 12)
def _volume_name(uid: str) -> str:
    return _VOLUME + names.suffix(int(uid[:8], 16))


def _mount(spec: Tree, name: str) -> None:
    known = [str(volume.get("name")) for volume in maps(spec, "volumes")]
    own = next((held for held in known if held.startswith(_VOLUME)), None)
    mounts = 0
    for field in ("initContainers", "containers"):
        for container in maps(spec, field):
            if any(mount.get("mountPath") == _MOUNTED_AT for mount in maps(container, "volumeMounts")):
                continue
            held = container.get("volumeMounts")
            mount: Json = {"name": own or name, "readOnly": True, "mountPath": _MOUNTED_AT}
            container["volumeMounts"] = [*held, mount] if isinstance(held, list) else [mount]
            mounts += 1
    if mounts and own is None:
        volumes = spec.get("volumes")
        spec["volumes"] = [*volumes, _volume(name)] if isinstance(volumes, list) else [_volume(name)]


def _volume(name: str) -> Tree:
    namespace: Json = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources: list[Json] = [
        {"serviceAccountToken": {"expirationSeconds": _SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}
