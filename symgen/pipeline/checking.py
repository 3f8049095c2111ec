"""`symgen check`: validate the module of a model, built if needed, or prove its equations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from symgen.deriving.derivation import derive_all
from symgen.deriving.selection import select
from symgen.errors import RequestError, ValidationError
from symgen.exact import POINTS, ExactResult, general_robot, prove, runtime_parameters
from symgen.formulations import formulations_named
from symgen.options import ALL, DEFAULT, NONE, BuildOptions
from symgen.pipeline.building import described, run
from symgen.pipeline.validating import validate_package
from symgen.support.journal import Journal
from symgen.toolchain.manifest import read_manifest
from symgen.validation.validate import ValidationResult


def check(
    path: str | Path, options: BuildOptions, samples: int | None, journal: Journal
) -> ValidationResult:
    """Every formulation against every other, derivatives, physics, on the installed package.

    `samples` random states are used; None for a number that suits the size of the model.  A build
    that fails its own validation gives the failed result.  Where no runtime parameters are asked
    for, those of the installed module stay.
    """
    options = replace(_with_installed_parameters(path, options), thorough=True)
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
            built.description, derived, report.folder, report.backends, samples,
            progress=journal.progress,
        )  # fmt: skip


def _with_installed_parameters(path: str | Path, options: BuildOptions) -> BuildOptions:
    """`options` with the runtime parameters of the module that a build would replace."""
    if options.out is None or options.runtime_parameters != (NONE,):
        return options
    description = described(path, options)
    installed = read_manifest(options.out / description.name)
    declared = description.independent_parameters
    kept = () if installed is None else installed.runtime_parameters
    if not kept or not set(kept) <= set(declared):
        return options
    return replace(options, runtime_parameters=kept)


def check_exactly(
    path: str | Path, options: BuildOptions, points: int | None, journal: Journal
) -> ExactResult:
    """Every formulation against every other, and their derivatives, without tolerance.

    Nothing is built.  Of `options` only the formulations (all that apply, unless some are named)
    and the functions matter: runtime parameters are those of the general robot.
    """
    with journal.stage("read"):
        description = described(path, options)
    if options.functions == (DEFAULT,):  # those, too, that builds leave out
        options = replace(options, functions=(ALL,))
    robot = general_robot(description)
    runtime = runtime_parameters(description, robot) or (NONE,)
    functions = select(robot, replace(options, runtime_parameters=runtime)).functions
    formulations = formulations_named(options.formulations)
    result = prove(
        description, formulations, functions, points=points or POINTS, progress=journal.progress
    )
    if not result.rows:
        reasons = [f"{name}: {reason}" for name, reason in result.left_out.items()]
        raise RequestError("\n".join(["there is nothing to prove exactly", *reasons]))
    return result
