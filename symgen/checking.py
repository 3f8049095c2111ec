"""`symgen check`: validate the module of a model, built if needed."""

from __future__ import annotations

from pathlib import Path

from symgen.derivation import derive_all
from symgen.errors import ValidationError
from symgen.journal import Journal
from symgen.options import BuildOptions
from symgen.pipeline import run, validate_package
from symgen.validation.validate import ValidationResult


def check(
    path: str | Path, options: BuildOptions, samples: int | None, journal: Journal
) -> ValidationResult:
    """Every formulation against every other, derivatives, physics, on the installed package.

    `samples` random states are used; None for a number that suits the size of the model.  A build
    that fails its own validation gives the failed result.
    """
    try:
        built = run(path, options, journal)
    except ValidationError as error:
        if isinstance(error.result, ValidationResult):
            return error.result
        raise
    if built.report.validation is not None and samples is None:
        return built.report.validation
    with journal.stage("derive"):
        derived = built.derived or derive_all(built.description, built.selection, journal.progress)
    with journal.stage("validate"):
        report = built.report
        return validate_package(
            built.description, built.selection, derived, report.folder, report.backends, samples
        )
