"""Whether the nodes have a pod network: what a network agent tells and a kubelet asks.

A node is `configured` when a CNI configuration lies there, which is what makes it Ready; its network `works` when pods
get one. Both at once, and from the start, where no agent is simulated.
"""

from collections.abc import Callable
from typing import Literal

Model = Literal["works", "none", "foreign"]
"""What a new node finds: a network; no configuration, so that it stays NotReady until its agent has come; or the
configuration of another plugin, so that it is Ready and pods hang until its agent has come"""


class Network:
    """The pod networks of the nodes of one cluster."""

    def __init__(self, model: Model = "works") -> None:
        self._model = model
        self._up: dict[str, None] = {}
        self._followers: list[tuple[dict[str, None], Callable[[], None]]] = []

    def is_configured(self, node: str) -> bool:
        return self._model != "none" or node in self._up

    def works(self, node: str) -> bool:
        return self._model == "works" or node in self._up

    def come_up(self, node: str) -> None:
        """The node's agent has set up its network."""
        self._up[node] = None
        self._tell(node)

    def forget(self, node: str) -> None:
        """The node is gone; another one of its name begins anew."""
        self._up.pop(node, None)
        self._tell(node)

    def follow(self, ring: Callable[[], None]) -> Callable[[], tuple[str, ...]]:
        """What takes the nodes whose network changed since the last time."""
        changed: dict[str, None] = {}
        self._followers.append((changed, ring))

        def take() -> tuple[str, ...]:
            taken = tuple(changed)
            changed.clear()
            return taken

        return take

    def _tell(self, node: str) -> None:
        for changed, ring in self._followers:
            changed[node] = None
            ring()
