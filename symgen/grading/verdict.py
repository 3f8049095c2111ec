"""What comes of grading: right or wrong, line by line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from symgen.errors import MOST_LISTED


@dataclass(frozen=True)
class Graded:
    """One line of an answer: `wrong` and `slip` say what is the matter where it is not right.

    A `remark` is about what is right.  What is not `understood` is not right either.
    """

    label: str
    line: int
    right: bool
    wrong: str = ""
    slip: str = ""
    remark: str = ""
    understood: bool = True

    @property
    def verdict(self) -> str:
        """In a word."""
        return "right" if self.right else "WRONG" if self.understood else "not understood"


@dataclass(frozen=True)
class Verdict:
    """All graded lines, in the order of the answer."""

    robot: str
    rows: tuple[Graded, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is right."""
        return all(row.right for row in self.rows)

    @property
    def summary(self) -> str:
        """How many are right."""
        right = sum(row.right for row in self.rows)
        return f"{right} of {len(self.rows)} right"

    def as_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        lines: list[str] = []
        faults = [row for row in self.rows if not row.understood]
        for row in self.rows:
            label = f"{row.label}: " if row.label else ""
            if row.understood:
                lines.append(f"line {row.line}: {label}{row.verdict}")
                lines += [f"    {words}" for words in (row.wrong, row.slip, row.remark) if words]
            elif row in faults[:MOST_LISTED]:
                lines.append(f"line {row.line}: {label}{row.verdict}: {row.wrong}")
        if len(faults) > MOST_LISTED:
            lines.append(f"and {len(faults) - MOST_LISTED} more that are not understood")
        return "\n".join([*lines, self.summary])
