"""What the server counts about itself, and how /metrics tells it.

Requests are counted in plain dictionaries, which costs a few microseconds each; prometheus-client is imported, and its
families are made, when somebody asks.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from baseload.embedded.api import requests
from baseload.embedded.api.answer import Answer
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.requests import Labels

if TYPE_CHECKING:
    from prometheus_client import Metric

BUCKETS: Final = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0),
    *(3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0),
)
"""Bounds of the classes of durations, in seconds, as a real server has them"""

_OF_WATCHES: Final = ("group", "resource", "version")
_READ: Final = ("GET", "HEAD", "OPTIONS")


class Measures:
    """Counts of one server since it began; `now` is a clock that only runs forwards, in seconds."""

    def __init__(self, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self._requests: dict[tuple[Labels, int], int] = {}
        self._durations: dict[Labels, list[float]] = {}  # counts by class, then the sum
        self._events: dict[Labels, int] = {}
        self._open: dict[Labels, int] = {}
        self._busy = {"mutating": 0, "readOnly": 0}

    async def measured(self, cluster: Cluster, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs one request, and counts it when it has ended."""
        labels = requests.labels(scope, cluster.kinds)
        if labels is None:
            await app(scope, receive, send)
            return
        begun, code = self._now(), 0
        is_watch = labels.verb == "WATCH"
        busy = "readOnly" if scope["method"] in _READ else "mutating"

        async def noted(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
            elif is_watch and code == 200:
                self._events[labels] = self._events.get(labels, 0) + message["body"].count(b"\n")
            await send(message)

        self._begin(labels, busy, is_watch=is_watch)
        try:
            await app(scope, receive, noted)
        finally:
            self._end(labels, busy, code, begun, is_watch=is_watch)

    def _begin(self, labels: Labels, busy: str, *, is_watch: bool) -> None:
        if is_watch:
            self._open[labels] = self._open.get(labels, 0) + 1
        else:
            self._busy[busy] += 1

    def _end(self, labels: Labels, busy: str, code: int, begun: float, *, is_watch: bool) -> None:
        if is_watch:
            self._open[labels] -= 1
        else:
            self._busy[busy] -= 1
        if not code:
            return  # nobody waited for the answer
        counted = labels, code
        self._requests[counted] = self._requests.get(counted, 0) + 1
        seconds = self._now() - begun
        durations = self._durations.get(labels)
        if durations is None:
            durations = self._durations[labels] = [0.0] * (len(BUCKETS) + 2)
        durations[bisect_left(BUCKETS, seconds)] += 1
        durations[-1] += seconds

    def answer(self, cluster: Cluster, accept: str) -> Answer:
        """GET /metrics."""
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.exposition import choose_encoder
        from prometheus_client.registry import Collector

        measures = self

        class Told(Collector):
            """What is counted, as Prometheus' families."""

            def collect(self) -> Iterator["Metric"]:
                yield from measures._of_requests()
                yield from measures._of_now(cluster)

        registry = CollectorRegistry()
        registry.register(Told())
        ProcessCollector(registry=registry)
        encode, media_type = choose_encoder(accept)
        return Answer(200, encode(registry), media_type)

    def _of_requests(self) -> Iterator["Metric"]:
        from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily

        total = CounterMetricFamily(
            "apiserver_request", "Requests answered, by what they were about and the code.", labels=(*_NAMES, "code")
        )
        for (labels, code), number in sorted(self._requests.items()):
            total.add_metric((*labels, str(code)), number)
        yield total
        spent = HistogramMetricFamily(
            "apiserver_request_duration_seconds", "How long requests took to their end, in seconds.", labels=_NAMES
        )
        bounds = [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
        for labels, (*classes, seconds) in sorted(self._durations.items()):
            spent.add_metric(labels, list(zip(bounds, accumulate(classes), strict=True)), seconds)
        yield spent

    def _of_now(self, cluster: Cluster) -> Iterator["Metric"]:
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        busy = GaugeMetricFamily(
            "apiserver_current_inflight_requests", "Requests that wait for their answer.", labels=("request_kind",)
        )
        for kind, number in self._busy.items():
            busy.add_metric((kind,), number)
        yield busy
        names = [name for name in _NAMES if name != "dry_run"]
        long = GaugeMetricFamily("apiserver_longrunning_requests", "Watches that are open.", labels=names)
        for labels, number in sorted(self._open.items()):
            long.add_metric([value for name, value in zip(_NAMES, labels, strict=True) if name != "dry_run"], number)
        yield long
        events = CounterMetricFamily("apiserver_watch_events", "Events sent to watches.", labels=_OF_WATCHES)
        sent: dict[tuple[str, str, str], int] = {}
        for labels, number in self._events.items():
            key = labels.group, labels.resource, labels.version
            sent[key] = sent.get(key, 0) + number
        for what, count in sorted(sent.items()):
            events.add_metric(what, count)
        yield events
        stored = GaugeMetricFamily(
            "apiserver_resource_objects", "Objects in the store, by resource.", labels=("group", "resource")
        )
        for resource in sorted(cluster.store.resources, key=lambda resource: (resource.group, resource.plural)):
            stored.add_metric((resource.group, resource.plural), cluster.count(resource))
        yield stored


_NAMES: Final = Labels._fields
