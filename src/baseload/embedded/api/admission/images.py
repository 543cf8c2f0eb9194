"""When an image is pulled, which its reference decides where nobody says."""

from functools import lru_cache


@lru_cache(maxsize=4096)
def pull_policy(image: str) -> str:
    """Always for what has the tag latest or none, unless a digest names the very bytes."""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    return "Always" if tag == "latest" or (not tag and "@" not in image) else "IfNotPresent"
