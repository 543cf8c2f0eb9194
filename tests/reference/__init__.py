"""A slow, literal reading of Karpenter's provisioning rules, kept as an oracle for the engine in `baseload.decide`.

It imports nothing of baseload.
Objects are plain dicts as YAML gives them, amounts exact integers, and nothing is remembered between two questions.
"""

from .provision import PlannedClaim, Result, solve

__all__ = ["PlannedClaim", "Result", "solve"]
