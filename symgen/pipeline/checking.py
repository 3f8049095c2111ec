"""`symgen check`: validate the module of a model, built if needed, or prove its equations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from symgen.deriving.derivation import derive_all
from symgen.deriving.selection import select
from symgen.errors import RequestError, ValidationError
from symgen.exact import ExactResult, general_robot, prove, runtime_parameters
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
    """Validate the installed package thoroughly: all formulations, derivatives and laws of physics.

    `samples` random states are used; None for a number that depends on the size of the model.  A
    build that fails its own validation gives the failed result.  By default, the runtime parameters
    are those of the installed module.
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
    """Return `options` with the runtime parameters of the module that a build would replace."""
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
    """Prove that all formulations and their derivatives agree, without tolerance or a build.

    Of `options` only formulations (by default all that apply) and functions matter; runtime
    parameters are those of the general robot.
    """
    with journal.stage("read"):
        description = described(path, options)
    if DEFAULT in options.functions:  # more than builds have by default
        options = replace(options, functions=(ALL,))
    robot = general_robot(description)
    runtime = runtime_parameters(description, robot) or (NONE,)
    functions = select(robot, replace(options, runtime_parameters=runtime)).functions
    formulations = formulations_named(options.formulations)
    result = prove(description, formulations, functions, points=points, progress=journal.progress)
    if not result.rows:
        reasons = [f"{name}: {reason}" for name, reason in result.left_out.items()]
        raise RequestError("\n".join(["there is nothing to prove exactly", *reasons]))
    return result
