"""The one place where it is chosen how a server is reached: over HTTP, or in this process."""

from typing import TYPE_CHECKING

from baseload.kube.client.client import Client
from baseload.kube.client.retry import Retry
from baseload.values.chance import Chance
from baseload.values.clock import Clock

if TYPE_CHECKING:
    from baseload.embedded.api.app import Committed
    from baseload.embedded.api.cluster import Cluster
    from baseload.kube.client.kubeconfig import Access


def over_http(access: "Access", clock: Clock, chance: Chance, *, retry: Retry | None = None) -> Client:
    """A client of the server of a kubeconfig, within the asyncio loop that runs."""
    from baseload.kube.client.http import Http

    return Client(Http(access, clock), clock, chance, retry=retry)


def in_process(cluster: "Cluster", clock: Clock, chance: Chance, *, committed: "Committed | None" = None) -> Client:
    """A client of the embedded cluster; `committed` waits until what was written is durable, where it is to be."""
    from baseload.embedded.local import Local

    way = Local(cluster, clock) if committed is None else Local(cluster, clock, committed)
    return Client(way, clock, chance)
