"""One pod's story as a person reads it."""

from dataclasses import replace

from baseload.plan.story import PodStory
from baseload.report import story
from tests.plan.plans import CLAIM


def test_each_type_that_would_do_says_for_itself_whether_its_price_is_an_estimate() -> None:
    claim = replace(CLAIM, estimates=(True, False))
    text = story.render(PodStory(claim.pods[0], "Pending", None, {}, (), claim=claim))

    assert "c5.2xlarge in us-east-1a, spot, ~$0.1496 an hour" in text
    assert "next best: m5.2xlarge at $0.1766 an hour" in text
    assert "types that would do, cheapest first (2): c5.2xlarge ~$0.1496, m5.2xlarge $0.1766" in text
