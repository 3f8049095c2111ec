"""`Plan`: what `symgen.plan` returns, with its files."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from symgen.errors import RequestError
from symgen.planning import figures, files
from symgen.planning.results import Solution
from symgen.toolchain.files import check_writable

PAGE = ".html"


def check_outputs(paths: Iterable[Path]) -> None:
    """`RequestError` where a file cannot be written: before anything is solved."""
    known = (PAGE, *figures.ENDINGS, *files.ENDINGS)
    for path in paths:
        if path.suffix not in known:
            raise RequestError(f"{path}: a plan is written as {', '.join(known)}")
        check_writable(path)


class Plan(Solution):
    """An optimal motion; see `Solution` for what is known of it."""

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the motion: .csv or .npz (samples), or .yaml (a ROS JointTrajectory)."""
        return files.save(self, Path(path))

    def plot(self, path: str | PathLike[str]) -> Path:
        """Write a figure, .png, .svg or .pdf: coordinates, velocities and torques."""
        return figures.plot(self, Path(path))

    def report(self, path: str | PathLike[str]) -> Path:
        """Write an HTML page: the moving robot, figures, limits, history."""
        return figures.report(self, Path(path))

    def write(self, path: str | PathLike[str]) -> Path:
        """Write what the name of the file ends with: samples, a figure, or the page."""
        ending = Path(path).suffix
        if ending == PAGE:
            return self.report(path)
        return self.plot(path) if ending in figures.ENDINGS else self.save(path)
