"""The build report: everything that a build did, as data, for the command line and `--json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from symgen.deriving.derivation import FunctionReport
from symgen.validation.mobility import Mobility
from symgen.validation.validate import ValidationResult


@dataclass(frozen=True)
class BuildReport:
    """Report of a build.

    `up_to_date` means that nothing had to be done; then only `robot`, `n`, `nq`, `folder`,
    `formulations`, `backends` and `notices` are filled in.  `runtime_parameters` are arguments of
    the module.  `mobility` is that of a mechanism with loops.  `evaluated` formulations served for
    validation only; `skipped` gives the reasons why others do not apply, or were not evaluated.
    `seconds` are by stage; `command_seconds` are totals of parallel commands by kind: "cython",
    "c", "link".  `installed_as` is the name of the module in this environment, if it was installed.
    """

    robot: str
    n: int
    nq: int
    folder: Path
    formulations: tuple[str, ...]
    backends: tuple[str, ...]
    function_names: tuple[str, ...] = ()
    runtime_parameters: tuple[str, ...] = ()
    evaluated: tuple[str, ...] = ()
    up_to_date: bool = False
    functions: tuple[FunctionReport, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    command_seconds: Mapping[str, float] = field(default_factory=dict)
    lines: int = 0
    size: int = 0
    compiler: str = ""
    compiled_now: bool = False
    toolchain_validated_now: bool = False
    validation: ValidationResult | None = None
    mobility: Mobility | None = None
    installed_as: str = ""

    def made(self) -> dict[str, Any]:
        """Return the facts that do not depend on time and folder: operations, sizes, omissions."""
        return {
            "formulations": list(self.formulations),
            "backends": list(self.backends),
            "functions": [asdict(function) for function in self.functions],
            "evaluated": list(self.evaluated),
            "skipped": dict(self.skipped),
            "lines": self.lines,
            "bytes": self.size,
            "compiler": self.compiler,
        }

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "robot": self.robot,
            "n": self.n,
            "nq": self.nq,
            "folder": str(self.folder),
            **self.made(),
            "runtime_parameters": list(self.runtime_parameters),
            "up_to_date": self.up_to_date,
            "notices": list(self.notices),
            "seconds": _rounded(self.seconds),
            "command_seconds": _rounded(self.command_seconds),
            "compiled_now": self.compiled_now,
            "toolchain_validated_now": self.toolchain_validated_now,
            "installed_as": self.installed_as,
            **({} if self.mobility is None else {"mobility": asdict(self.mobility)}),
            "validation": None if self.validation is None else validation_json(self.validation),
        }


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in seconds.items()}


def validation_json(result: ValidationResult) -> dict[str, Any]:
    """Return a validation as plain data."""
    return {
        "passed": result.passed,
        "seconds": round(result.seconds, 4),
        "checks": [{**asdict(row), "passed": row.passed} for row in result.rows],
    }
