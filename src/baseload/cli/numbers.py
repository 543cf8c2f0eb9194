"""Numbers as options take them: not `nan`, which lies in every range."""

import math
from typing import Any

import click


class Real(click.FloatRange):
    """A number of a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number
