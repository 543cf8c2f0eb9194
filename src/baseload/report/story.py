"""One pod's story as a person reads it."""

from collections.abc import Iterator, Sequence

from baseload.plan.encode import runner_up
from baseload.plan.provision import PlannedClaim, Rejection
from baseload.plan.story import Alternative, PodStory
from baseload.report import amounts
from baseload.report.provision import reasons
from baseload.report.table import columns, few, fold
from baseload.values.quantity import UNIT

Lines = Iterator[str]


def render(story: PodStory, *, wide: bool = False) -> str:
    """The whole story."""
    sections = (_heading(story), _asks(story), _place(story, wide), _otherwise(story, wide))
    texts = ["\n".join(lines) for lines in sections]
    return "\n\n".join(text for text in texts if text) + "\n"


def _heading(story: PodStory) -> Lines:
    made = f", made for {story.workload}, which lacks it" if story.workload else ""
    yield f"Pod {story.pod} ({story.phase}){made}"


def _asks(story: PodStory) -> Lines:
    yield "Asks for"
    requests = ((resource, amount) for resource, amount in story.requests.items() if resource != "pods")
    rows = [(f"{resource} {amounts.amount(resource, amount)}", "requests") for resource, amount in requests]
    rows += [(ask.text, ask.path) for ask in story.asks]
    if not rows:
        yield "  nothing but a place"
    yield from (f"  {line}" for line in columns(("", ""), rows)[1:])


def _place(story: PodStory, wide: bool) -> Lines:
    if story.runs_on is not None:
        yield f"Runs on node {story.runs_on}" if story.phase == "Running" else f"Is bound to node {story.runs_on}"
        if story.node is not None or story.claim is not None:
            yield "That node is going away, so a place is sought for the pod:"
    if story.node is not None:
        yield f"Goes to node {story.node}, which is there: existing nodes are tried before any is launched"
    elif story.claim is not None:
        yield from _launched(story.claim, wide)
    elif story.unschedulable is not None:
        yield from reasons(story.unschedulable, [story.pod], wide=True)
    elif story.runs_on is None:
        yield "No place is sought for it"


def _launched(claim: PlannedClaim, wide: bool) -> Lines:
    yield f"Goes to {claim.name}, a node that NodePool {claim.node_pool} launches: {_described(claim)}"
    second = runner_up(claim)
    if second is not None:
        yield f"  next best: {second[0]} at {amounts.price(second[1], estimated=second[2])} an hour"
    cheapest = zip(claim.instance_types, claim.prices, claim.estimates, strict=True)
    options = [f"{name} {amounts.price(price, estimated=estimated)}" for name, price, estimated in cheapest]
    yield f"  types that would do, cheapest first ({len(options)}): {', '.join(options if wide else options[:6])}" + (
        "" if wide or len(options) <= 6 else ", …"
    )
    if claim.binding:
        share = amounts.shares([claim.fill[claim.binding]])
        daemons = "daemons and " if claim.requests.get("pods", 0) > len(claim.pods) * UNIT else ""
        yield f"  {claim.binding} fills first: {share} with {daemons}{fold(claim.pods, wide=wide)}"


def _described(claim: PlannedClaim) -> str:
    price = amounts.price(claim.price_per_hour, estimated=claim.estimated)
    return f"{claim.instance_type} in {claim.zone}, {claim.capacity_type}, {price} an hour"


def _otherwise(story: PodStory, wide: bool) -> Lines:
    """What did not take it, and what would if its place were not there."""
    if story.refusals:
        yield "Nodes that are there do not take it"
        yield from few(_refused(story.refusals), wide=wide)
    if story.refusals and story.alternative is not None:
        yield ""
    if story.alternative is not None:
        yield from _alternative(story.alternative, wide)


def _alternative(alternative: Alternative, wide: bool) -> Lines:
    without = f"Without {alternative.without} it would go"
    if alternative.node is not None:
        yield f"{without} to node {alternative.node}"
    elif alternative.claim is not None:
        yield f"{without} to a node of NodePool {alternative.claim.node_pool}: {_described(alternative.claim)}"
    else:
        yield f"{without} nowhere"
        yield from few(_refused(alternative.rejections), wide=wide)


def _refused(rejections: Sequence[Rejection]) -> list[str]:
    rows = [(rejection.target, rejection.reason, rejection.message) for rejection in rejections]
    return [f"  {line}" for line in columns(("", "", ""), rows)[1:]] if rows else []
