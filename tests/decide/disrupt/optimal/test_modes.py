"""The optimal mode against every end that there is, on clusters small enough to try them all."""

from hypothesis import event, given, settings

from baseload.decide.disrupt.optimal import modes
from tests.decide.disrupt.optimal.tiny import Inputs, clusters, ends

TRIFLE = 1e-6


@settings(max_examples=20, deadline=None)
@given(clusters())
def test_bound_lies_below_the_best_end_which_the_optimal_mode_nears_and_the_compatible_never_beats(
    inputs: Inputs,
) -> None:
    best = min(ends(*inputs))
    compared = modes.until_stable(*inputs).comparison

    assert compared.bound <= best + TRIFLE
    assert best <= compared.optimal.price_per_hour + TRIFLE
    assert compared.optimal.price_per_hour <= compared.compatible.price_per_hour + TRIFLE
    event(f"optimal is the best of all: {compared.optimal.price_per_hour <= best + TRIFLE}")
    event(
        f"saves more than compatible: {compared.optimal.price_per_hour < compared.compatible.price_per_hour - TRIFLE}"
    )
