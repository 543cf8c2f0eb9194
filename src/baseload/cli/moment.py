"""The moment for which a decision is made, where it needs one and the options name none: now, which is said."""

from typing import TYPE_CHECKING

from baseload.cli import stderr
from baseload.cli.inputs import Flags, read

if TYPE_CHECKING:
    from baseload.world.files import Inputs


def read_for_a_moment(flags: Flags) -> "Inputs":
    """What the flags name, with a moment."""
    from baseload.values import instant
    from baseload.world import planning

    given = read(flags)
    inputs = planning.at_some_moment(given)
    if inputs is not given and inputs.options.now is not None:
        stderr.say(f"decided for {instant.format(inputs.options.now)}, since the options name no `now`")
    return inputs
