"""`baseload top`: the nodes of a cluster as they are now, on a terminal again and again."""

import asyncio
from typing import TYPE_CHECKING, cast

import click

from baseload.cli import contexts
from baseload.cli.numbers import Real
from baseload.cli.output import OUTPUT, Printed, encoded

if TYPE_CHECKING:
    from baseload.decide.overview import Sort
    from baseload.values.selector import Selector


@click.command()
@click.option(
    "--context",
    metavar="CONTEXT",
    shell_complete=contexts.complete,
    help="The kubeconfig context; by default the current one.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(),
    metavar="FILE",
    help="The kubeconfig to find the cluster in; by default $KUBECONFIG, else ~/.kube/config.",
)
@click.option(
    "--sort",
    type=click.Choice(["name", "price", "age", "cpu", "memory"]),
    default="name",
    show_default=True,
    help="Which nodes come first: the dearest, the youngest, the fullest, or by name.",
)
@click.option("-l", "--node-selector", "selector", metavar="SELECTOR", help="Nodes with these labels alone.")
@click.option("--pods", is_flag=True, help="List the pods of each node.")
@click.option("--once", is_flag=True, help="Print one picture and end, as where the output is no terminal.")
@click.option(
    "--interval",
    type=Real(min=0.1, max=3600),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Seconds from one picture to the next.",
)
@OUTPUT
def top(
    context: str | None,
    kubeconfig: str | None,
    sort: str,
    selector: str | None,
    pods: bool,
    once: bool,
    interval: float,
    output: str,
) -> Printed | None:
    """Show the nodes of a cluster: what they cost, how full they are by what pods request, how they are.

    Works on any cluster that a kubeconfig leads to; it is only read. NodeClaims without a node and pods without one
    are shown below. Prices are the catalogue's, those with ~ estimates. On a terminal the picture is renewed until q
    or Ctrl-C.
    """
    viewer = _Viewer(context, kubeconfig, cast("Sort", sort), _selector(selector), pods=pods)
    if output != "table":
        return asyncio.run(viewer.encoded(output))
    from baseload.cli import screen

    if once or not screen.is_there():
        return asyncio.run(viewer.printed())
    asyncio.run(viewer.show(interval))
    return None


def _selector(text: str | None) -> "Selector | None":
    from baseload.values import selector

    if text is None:
        return None
    try:
        return selector.parse(text)
    except selector.SelectorError as error:
        raise click.BadParameter(str(error), param_hint="--node-selector") from error


class _Viewer:
    """What is looked at, and how it is shown."""

    def __init__(
        self, context: str | None, kubeconfig: str | None, sort: "Sort", selector: "Selector | None", *, pods: bool
    ) -> None:
        self._context, self._kubeconfig, self._sort, self._selector = context, kubeconfig, sort, selector
        self._pods = pods

    async def encoded(self, output: str) -> Printed:
        """One picture for programs."""
        from baseload.plan import overview
        from baseload.world import watched

        async with watched.watching(self._context, self._kubeconfig) as cluster:
            found = cluster.overview(selector=self._selector, sort=self._sort)
        return encoded(overview.to_json(found), output)

    async def printed(self) -> str:
        """One picture as text, however wide."""
        from baseload.report import overview as report
        from baseload.world import watched

        async with watched.watching(self._context, self._kubeconfig) as cluster:
            found = cluster.overview(selector=self._selector, sort=self._sort)
            return report.plain(report.lines(found, title=cluster.name, pods=self._pods))

    async def show(self, interval: float) -> None:
        """One picture after the other on the terminal."""
        from baseload.cli import screen
        from baseload.report import overview as report
        from baseload.world import watched

        async with watched.watching(self._context, self._kubeconfig, every=min(interval, 1.0)) as cluster:

            def picture(width: int, height: int) -> list[report.Line]:
                found = cluster.overview(selector=self._selector, sort=self._sort)
                lines = report.lines(found, title=cluster.name, problem=cluster.problem, width=width, pods=self._pods)
                return report.fitting(lines, height)

            await screen.show(picture, every=interval)
