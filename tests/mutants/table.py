"""The table of mutants, and planting one of them in a checkout."""

from __future__ import annotations

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
def planted(mutant: Mutant, checkout: Path) -> Iterator[None]:
    """The checkout with one fault; afterwards it is as it was."""
    path = checkout / mutant.file
    text = path.read_text()
    path.write_text(mutant.planted_in(text))
    try:
        yield
    finally:
        path.write_text(text)
