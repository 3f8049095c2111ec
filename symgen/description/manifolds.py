"""What has not learnt about joints on manifolds says so, by their names."""

from __future__ import annotations

from symgen.description.model import RobotDescription
from symgen.errors import RequestError


def refuse_manifolds(description: RobotDescription, what: str) -> None:
    """RequestError where a joint is on a manifold; `what` is what is not available for it yet."""
    for joint in description.joints:
        if joint.manifold is not None:
            raise RequestError(
                f"{description.file}:{joint.source.line}: {what} is not available yet for joints "
                f"with 'coordinates: {joint.representation}', such as {joint.name!r}; write "
                "'coordinates: angles'"
            )
