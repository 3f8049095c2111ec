"""The table of mutants, and planting one of them in a checkout."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Mutant:
    """One fault at one place."""

    name: str
    file: str
    fault: str
    was: str
    now: str

    def fits(self, checkout: Path) -> bool:
        """Whether its line is still there."""
        path = checkout / self.file
        return path.is_file() and path.read_text().count(self.was) == 1

    def planted_in(self, text: str) -> str:
        """`text` with the fault; ValueError unless the fragment stands there exactly once."""
        if (found := text.count(self.was)) != 1:
            raise ValueError(f"{self.name}: the fragment stands {found} times in {self.file}")
        return text.replace(self.was, self.now)


def mutants(folder: Path = FOLDER) -> list[Mutant]:
    """All of the tables in `folder`."""
    tables = (tomllib.loads(path.read_text()) for path in sorted(folder.glob("*.toml")))
    return [Mutant(**entry) for table in tables for entry in table["mutant"]]


@contextmanager
def planted(checkout: Path, *faults: Mutant) -> Iterator[None]:
    """The checkout with some faults; afterwards it is as it was."""
    try:
        for mutant in faults:
            path = checkout / mutant.file
            path.write_text(mutant.planted_in(path.read_text()))
        yield
    finally:
        restore(checkout)


def restore(checkout: Path) -> None:
    """All files that git knows as they were committed: tests with a fault may write some, too."""
    subprocess.run(["git", "checkout", "--quiet", "--", "."], cwd=checkout, check=True)


def is_clean(checkout: Path) -> bool:
    """Whether nothing is lost by `restore`."""
    command = ["git", "status", "--porcelain", "--untracked-files=no"]
    return not subprocess.run(command, cwd=checkout, check=True, capture_output=True).stdout
