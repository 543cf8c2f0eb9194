"""The contexts of the kubeconfig, for shells that complete `--context`."""

import click


def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The contexts that begin so; none where the kubeconfig cannot be read, since nobody could be told why."""
    from baseload.kube.client import kubeconfig
    from baseload.values.errors import BadInput

    try:
        known = kubeconfig.contexts(context.params.get("kubeconfig"))
    except BadInput:
        return []
    return [name for name in known if name.startswith(incomplete)]
