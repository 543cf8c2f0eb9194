"""`baseload version`."""

import click

import baseload


@click.command()
def version() -> str:
    """Print the version."""
    return f"baseload {baseload.__version__}"
