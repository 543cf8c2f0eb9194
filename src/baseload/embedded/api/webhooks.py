"""Conversions that only a webhook knows: this server calls none, and says so as one does that cannot reach it.

A CustomResourceDefinition may leave the conversion between its versions to a webhook. Its objects can then be read and
written in the version that is stored, and in no other.
"""

from baseload.embedded.api.call import APPLY, Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.target import Target
from baseload.embedded.api.versions import Webhook
from baseload.embedded.store.errors import Unreasoned
from baseload.embedded.store.listing import Asked
from baseload.embedded.store.selection import Selection


def check(cluster: Cluster, found: Target, call: Call) -> None:
    """Refuses a request that would need such a conversion."""
    conversion = found.kind.conversion
    if conversion is None or conversion.webhook is None:
        return
    stored, view = found.kind.resource, found.kind.view
    if found.name:
        is_there = cluster.store.find(stored, found.namespace, found.name) is not None
        is_new = not is_there and call.media_type == APPLY
    else:
        is_new = call.method == "POST"
        is_there = not is_new and bool(cluster.store.list(stored, Selection(found.namespace), Asked(1)).records)
    if is_there or is_new:
        version = view.api_version if is_new else stored.api_version
        why = f'Post "{conversion.webhook.address}?timeout=30s": {_why(cluster, conversion.webhook)}'
        raise Unreasoned(f"conversion webhook for {version}, Kind={view.kind} failed: {why}")


def _why(cluster: Cluster, webhook: Webhook) -> str:
    services = cluster.kinds.named("", "Service")
    if webhook.service and services is not None:
        namespace, name = webhook.service
        if cluster.store.find(services.resource, namespace, name) is None:
            return f'service "{name}" not found'
    return "this server calls no webhooks"
