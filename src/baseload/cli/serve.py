"""`baseload serve`: a Kubernetes API of one's own, for kubectl and everything else that speaks to one."""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from baseload.cli import stderr

if TYPE_CHECKING:
    from baseload.kube.manifests import Manifests


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="P",
    help="The port on 127.0.0.1; by default a free one.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where objects are kept, so that they are there again at the next start; by default in memory alone.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write for kubectl, when the API answers; in one that is there the context `baseload` is put. "
    "By default a new file in the data directory or a temporary one.",
)
@click.option(
    "-f",
    "--filename",
    "names",
    type=click.Path(allow_dash=True),
    multiple=True,
    metavar="FILE|DIR|-",
    help="Manifests to begin with: a file, a folder with all below it, or - for standard input. Repeatable.",
)
def serve(port: int, data_dir: Path | None, kubeconfig: Path | None, names: tuple[str, ...]) -> None:
    """Serve a Kubernetes API on 127.0.0.1 until Ctrl-C: real objects, no nodes and no controllers.

    Everybody on this machine may do everything with it.
    """
    from baseload.embedded import server
    from baseload.kube import bulk
    from baseload.world import embedded
    from baseload.world import kubeconfig as kubeconfigs

    manifests = _manifests(names) if names else None
    with ExitStack() as stack:
        try:
            listener = stack.enter_context(server.listening(port))
        except OSError as error:
            raise click.ClickException(f"port {port} cannot be listened on: {error.strerror}") from error
        world = embedded.build(data_dir, manifests)
        stack.callback(world.close)
        file = kubeconfig or _own_file(data_dir, stack)
        address = f"http://{server.LOOPBACK}:{listener.getsockname()[1]}"

        def started(_: server.Stop) -> None:
            kubeconfigs.write(file, address)
            stderr.say(f"the API answers at {address}; Ctrl-C stops it")
            stderr.say(f"export KUBECONFIG={file.absolute()}")

        bulk.keep()
        server.serve(world.cluster, listener, started)
    stderr.say("stopped")


def _manifests(names: tuple[str, ...]) -> "Manifests":
    from baseload.kube import manifests

    loaded = manifests.load(names, stdin=lambda: sys.stdin.buffer.read())
    for warning in loaded.warnings:
        stderr.say(f"warning: {warning}")
    return loaded


def _own_file(data_dir: Path | None, stack: ExitStack) -> Path:
    if data_dir is not None:
        return data_dir / "kubeconfig"
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="baseload-"))) / "kubeconfig"
