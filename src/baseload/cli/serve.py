"""`baseload serve`: a Kubernetes API of one's own, for kubectl and everything else that speaks to one."""

from pathlib import Path

import click

from baseload.cli import serving, stderr


@click.command()
@serving.options
def serve(
    port: int,
    data_dir: Path | None,
    kubeconfig: Path | None,
    is_tls: bool,
    token_file: Path | None,
    names: tuple[str, ...],
) -> None:
    """Serve a Kubernetes API on 127.0.0.1 until Ctrl-C: real objects, no nodes and no controllers.

    Without --tls everybody on this machine may do everything with it.
    """
    from baseload.embedded import server
    from baseload.kube import bulk
    from baseload.world import embedded

    tokens = serving.tokens(token_file, is_tls=is_tls)
    manifests = serving.manifests(names)
    with serving.place(port, data_dir, kubeconfig, is_tls=is_tls) as place:
        world = embedded.build(data_dir, manifests, tokens=tokens)
        try:
            serving.tell_untouched(world.untouched)
            bulk.keep()
            server.serve(world.cluster, place.listener, place.started, tls=place.tls.files if place.tls else None)
        finally:
            world.close()
    stderr.say("stopped")
