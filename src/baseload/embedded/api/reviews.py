"""The reviews: what an API answers when it is asked who somebody is and what he may do."""

from typing import cast

from baseload.embedded.api import computed
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.target import Target
from baseload.embedded.store.record import Json

_AUTHENTICATION = "authentication.k8s.io/v1"


def kinds() -> list[ServedKind]:
    """The kinds of the reviews."""
    return [
        computed.kind(_AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews", verbs=("create",), reply=_who_am_i),
    ]


def user_info(identity: Identity) -> Tree:
    """A user as reviews tell him."""
    told: Tree = {"username": identity.name}
    if identity.uid:
        told["uid"] = identity.uid
    if identity.groups:
        told["groups"] = list(identity.groups)
    if identity.extra:
        told["extra"] = {key: cast(Json, list(values)) for key, values in sorted(identity.extra.items())}
    return told


def _who_am_i(cluster: Cluster, target: Target, call: Call) -> Tree:
    computed.sent(target, call)
    metadata: Tree = {"creationTimestamp": cluster.now()}
    head: Tree = {"kind": "SelfSubjectReview", "apiVersion": _AUTHENTICATION, "metadata": metadata}
    return {**head, "status": {"userInfo": user_info(call.identity)}}
