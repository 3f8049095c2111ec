"""`symgen check`: validate the module of a model, built if needed."""

from __future__ import annotations

from pathlib import Path

from symgen.derivation import derive_all, select
from symgen.description import read
from symgen.options import BuildOptions
from symgen.pipeline import Journal, build, validate_package
from symgen.validation.validate import ValidationResult


def check(
    path: str | Path, options: BuildOptions, samples: int | None, journal: Journal
) -> ValidationResult:
    """Every formulation against every other, derivatives, physics, on the installed package.

    `samples` random states are used; None for a number that suits the size of the model.
    """
    report = build(path, options, journal)
    description = read(path)
    selection = select(description, options)
    with journal.stage("derive"):
        derived = derive_all(description, selection, journal.progress)
    with journal.stage("validate"):
        return validate_package(description, selection, derived, report.folder, samples)
