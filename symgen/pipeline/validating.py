"""Validation of a staged package: all backends, and the formulations that are only evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from symgen.deriving.derivation import Derived
from symgen.description import RobotDescription
from symgen.emit import numpy
from symgen.runtime.checks import subjects_of
from symgen.runtime.subjects import Subject
from symgen.support.journal import Progress, silent
from symgen.toolchain.loading import forget_package, load_built
from symgen.validation.evaluated import delegated_rows, evaluated_subjects
from symgen.validation.mechanism_kernels import accelerations, steps
from symgen.validation.validate import Beginning, ValidationResult, begin, validate


@contextmanager
def beginning_of_validation(
    description: RobotDescription, derived: Derived, folder: Path, progress: Progress = silent
) -> Iterator[Beginning | None]:
    """Begin a validation with the subjects that need no compiled code: the package in `folder` with
    NumPy, and evaluated programs.  The package stays loaded until the end of the block."""
    module = load_built(folder, (numpy.NAME,))
    try:
        subjects = [subject for subject in subjects_of(module) if subject.complex_step]
        subjects += _evaluated(description, derived)
        runtime = derived.selection.runtime_parameters
        yield begin(description, subjects, runtime=runtime, progress=progress)
    finally:
        forget_package(module)


def _evaluated(description: RobotDescription, derived: Derived) -> tuple[Subject, ...]:
    runtime = derived.selection.runtime_parameters
    values = [description.parameter_values[name] for name in runtime]
    return tuple(evaluated_subjects(derived.evaluated, values))


def validate_package(
    description: RobotDescription,
    derived: Derived,
    folder: Path,
    backends: tuple[str, ...],
    samples: int | None = None,
    beginning: Beginning | None = None,
    progress: Progress = silent,
) -> ValidationResult:
    """Validate the package in `folder`, and every formulation that was derived but not selected.

    Omissions are rows without samples.  `beginning` is that of `beginning_of_validation` for the
    same package.
    """
    module = load_built(folder, backends)
    try:
        evaluated, selection = _evaluated(description, derived), derived.selection
        begun = {subject.name: subject for subject in (beginning.subjects if beginning else ())}
        subjects = [begun.get(x.name, x) for x in (*subjects_of(module), *evaluated)]
        runtime = selection.runtime_parameters
        result = validate(
            description, subjects, samples, runtime=runtime, beginning=beginning, progress=progress
        )
        compiled = (*accelerations(module), *steps(module))
        return replace(result, rows=(*result.rows, *compiled, *delegated_rows(selection.delegated)))
    finally:
        forget_package(module)
