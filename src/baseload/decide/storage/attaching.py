"""When a volume is attached to a node and when it is let go of (cluster-actors spec 18.2).

It is let go of at once where the kubelet is there to unmount it; from a node that is lost after six minutes, or at once
where somebody declared the node out of service. A volume of one writer is not attached anywhere else before that.
"""

from hashlib import sha256
from typing import Final

from baseload.values.duration import MINUTE

FORCED: Final = 6 * MINUTE
"""So long a volume waits for its unmount on a node that does not answer."""
_SHARED: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})


def released_at(since: int, *, is_ready: bool, is_out_of_service: bool) -> int:
    """When a volume that no pod of a node uses any more, since some moment, is detached."""
    return since if is_ready or is_out_of_service else since + FORCED


def is_shared(access_modes: tuple[str, ...]) -> bool:
    """Whether several nodes may have it at once."""
    return any(mode in _SHARED for mode in access_modes)


def name(driver: str, handle: str, node: str) -> str:
    """Of the VolumeAttachment."""
    return f"csi-{sha256(f'{handle}{driver}{node}'.encode()).hexdigest()}"
