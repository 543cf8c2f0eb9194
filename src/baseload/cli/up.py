"""`baseload up`: a whole cluster in one process, with nodes that come and go, for kubectl and everything else."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from baseload.cli import serving, stderr
from baseload.cli.numbers import Real

if TYPE_CHECKING:
    from baseload.embedded.api.app import Committed
    from baseload.values.clock import Clock
    from baseload.world.summary import Summary


@click.command()
@click.option(
    "--speed",
    type=Real(min=0.01, max=3600),
    default=1.0,
    show_default=True,
    metavar="N",
    help="How many seconds pass in the cluster while one passes here.",
)
@click.option("--region", metavar="R", help="The region of the simulated cloud; by default us-east-1.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides what chance decides in the cloud.")
@click.option(
    "--options",
    "options_file",
    type=click.Path(dir_okay=False, allow_dash=False),
    metavar="FILE",
    help="Settings of the controllers, under their own names.",
)
@click.option(
    "--cloud",
    "cloud_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="How the simulated cloud behaves: boot times, spot market, capacity, faults (docs/cloud.md).",
)
@click.option(
    "--journal",
    "journal_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write all that happens there, a line of JSON each, for `baseload explain`; with a --data-dir that has a "
    "cluster it goes on with what that file holds, else in place of it.",
)
@serving.options
def up(
    speed: float,
    region: str | None,
    seed: int,
    options_file: str | None,
    cloud_file: Path | None,
    journal_file: Path | None,
    port: int,
    data_dir: Path | None,
    kubeconfig: Path | None,
    is_tls: bool,
    token_file: Path | None,
    names: tuple[str, ...],
) -> None:
    """Run a cluster on 127.0.0.1 until Ctrl-C: an API, its controllers, a simulated cloud, and Karpenter.

    It begins without a NodePool, an EC2NodeClass and a node. Pods run on nodes that the simulated cloud launches; no
    container is started. Without --tls everybody on this machine may do everything with it.
    """
    import time

    from baseload.embedded import server
    from baseload.journal import resume
    from baseload.kube import bulk
    from baseload.replay.keeping import Journal
    from baseload.timeline.wall import ScaledClock
    from baseload.world import continuing, life_settings
    from baseload.world.living import Living
    from baseload.world.summary import Summary

    tokens = serving.tokens(token_file, is_tls=is_tls)
    manifests = serving.manifests(names)
    kept = continuing.read(data_dir)
    settings = life_settings.of_files(
        region=region or (kept.region if kept else None), seed=seed, options=options_file, cloud=cloud_file
    )
    if kept is not None and kept.region != settings.region:
        raise click.UsageError(f"the cluster in {data_dir} is in {kept.region}; leave --region out, or name it")
    left = resume.NOTHING if kept is None or journal_file is None else resume.read(journal_file)
    with (
        serving.place(port, data_dir, kubeconfig, is_tls=is_tls) as place,
        serving.written(journal_file, keeps=left.size) as out,
    ):
        clock = ScaledClock(max(time.time_ns(), kept.now if kept else 0), speed)
        living = Living(
            clock,
            settings,
            data_dir=data_dir,
            manifests=manifests,
            tokens=tokens,
            saved=kept.cloud if kept else None,
        )
        journal = None if out is None else Journal(living, out, left)

        async def alongside(committed: "Committed") -> None:
            living.committed = committed
            parts = [living.run()]
            if data_dir is not None:
                parts.append(continuing.Keeper(living, data_dir, every=speed).run())
            if journal is not None:
                parts.append(journal.run())
            if stderr.is_terminal():
                parts.append(_told(Summary(living), clock, every=speed))
            await clock.together(*parts)

        try:
            serving.tell_untouched(living.embedded.untouched)
            bulk.keep()
            server.serve(
                living.cluster,
                place.listener,
                place.started,
                tls=place.tls.files if place.tls else None,
                alongside=alongside,
            )
        finally:
            if journal is not None:
                journal.close()
            living.close()
    stderr.say("stopped")


async def _told(summary: "Summary", clock: "Clock", *, every: float) -> None:
    """Keeps one line of the terminal up to date."""
    told = ""
    try:
        while True:
            await clock.sleep(every)
            line = summary.line()
            if line != told:
                told = line
                stderr.show(line)
    finally:
        stderr.show("")
