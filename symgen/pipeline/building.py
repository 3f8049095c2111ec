"""The build: every stage of `symgen.pipeline`, in order.

Nothing is installed before it is validated.  A tool chain that was never validated on this machine
builds the two-link arm while the robot is derived, and its results are compared with the printed
formulas before the robot is validated (`qualification`).  Compilation begins with the first long
kernel, while this process derives the others, prints the remaining files, derives programs for
evaluation, and validates those that need no compiler (`scheduler`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from symgen.deriving.derivation import Derived, derive_built, with_evaluated
from symgen.deriving.natural import in_natural_coordinates
from symgen.deriving.packaging import bare_package, package_of
from symgen.deriving.selection import Selection, functions_with_rolled_form, notices_of_size
from symgen.description import RobotDescription, read
from symgen.description.additions import with_additions
from symgen.emit import compiled, cython
from symgen.emit.bundle import SourceBundle
from symgen.emit.emission import EarlyKernels, emit
from symgen.emit.templates import compiled as compiled_templates
from symgen.emit.templates import use_compiled
from symgen.errors import RequestError, SymgenError, ToolchainError, ValidationError
from symgen.formulations import KNOWN
from symgen.formulations.natural_coordinates import NATURAL_COORDINATES
from symgen.options import LOOPS, STRAIGHT, BuildOptions
from symgen.pipeline.build_plan import BuildPlan, planned, warn_if_it_replaces
from symgen.pipeline.build_report import BuildReport
from symgen.pipeline.qualification import qualification
from symgen.pipeline.scheduler import Compilation, compilation
from symgen.pipeline.validating import beginning_of_validation, validate_package
from symgen.support.collector import paused_collector
from symgen.support.journal import Journal
from symgen.toolchain.cache import open_cache
from symgen.toolchain.extensions import CompileResult, compile_libraries
from symgen.toolchain.install import stage
from symgen.toolchain.key import templates_key
from symgen.validation.mobility import mobility
from symgen.validation.model_warnings import model_warnings
from symgen.validation.validate import ValidationResult

STAGES = ("read", "tool chain", "derive", "emit", "compile", "validate", "install")
"""In the order of completion; some stages are resumed while others wait."""


@dataclass(frozen=True)
class Built:
    """A build with its description and programs; `derived` is None if it was up to date."""

    description: RobotDescription
    selection: Selection
    report: BuildReport
    derived: Derived | None = None


def build(path: str | Path, options: BuildOptions, journal: Journal | None = None) -> BuildReport:
    """Build the package of the model file `path`, and return the report of the build.

    Raises `ModelError`, `RequestError`, `ValidationError` or `ToolchainError`; then nothing was
    changed in the output folder.
    """
    return run(path, options, journal or Journal()).report


def run(path: str | Path, options: BuildOptions, journal: Journal) -> Built:
    """Build as `build`, and return the description and the programs, too."""
    with journal.stage("read"):  # path -> RobotDescription
        description = described(path, options)
    plan = planned(description, options, journal)  # RobotDescription, BuildOptions -> BuildPlan
    mechanism = mobility(description)
    for warning in model_warnings(description, mechanism):
        journal.notice(warning)
    if not options.force and plan.is_up_to_date():
        return Built(description, plan.selection, _report_up_to_date(plan, journal))
    _warn_of_work(plan, journal)
    blaming, tell = partial(_blaming, options.templates), journal.progress
    with (
        _templates_compiled_once(),
        qualification(plan.compiler, options.flags, plan.backends, journal) as qualify,
        compilation(plan.compiler, options.flags, plan.key, options.force, tell) as beside,
        paused_collector(),
    ):
        early = _early_kernels(plan, beside)
        with blaming(), journal.stage("derive"):  # RobotDescription -> Programs, optimised
            made = beside.kernels(early, plan.selection.built)
            c_alone = cython.NAME not in plan.backends
            derived = derive_built(description, plan.selection, tell, options.form, c_alone, made)
        _warn_of_form(plan, derived, journal)
        _warn_of_open_tree(plan, journal)
        with blaming(), journal.stage("emit"):  # Programs -> SourceBundle
            package = package_of(description, derived, options.equal)
            package = replace(package, plain_c=options.plain_c, casadi=options.casadi)
            bundle = emit(package, plan.backends, options.templates, beside.begin, early)
        with blaming(), journal.stage("derive"):  # programs that are evaluated, not built
            derived = with_evaluated(derived, description, tell)
        with stage(plan.target) as staged, ExitStack() as loaded:
            with blaming(), journal.stage("validate"):  # what needs no binaries
                staged.write_sources(bundle.files)
                begun = beginning_of_validation(description, derived, staged.folder, tell)
                beginning = loaded.enter_context(begun)
            qualified = qualify()
            with blaming(), journal.stage("compile"):  # SourceBundle -> binaries
                binaries = beside.result()
                staged.write_binaries(_files_of(binaries) | _libraries(bundle, plan, journal))
            with blaming(), journal.stage("validate"):  # the staged package -> ValidationResult
                arguments = description, derived, staged.folder, plan.backends
                validation = validate_package(*arguments, beginning=beginning, progress=tell)
                validation.raise_if_failed()
            report = _report(plan, derived, bundle, binaries, validation)
            with journal.stage("install"):
                staged.install(plan.manifest(report.made()))
    notices, seconds = tuple(journal.notices), _in_order(journal.seconds)
    report = replace(
        report, toolchain_validated_now=qualified, mobility=mechanism, notices=notices,
        seconds=seconds,
    )  # fmt: skip
    return Built(description, derived.selection, report, derived)


def described(path: str | Path, options: BuildOptions) -> RobotDescription:
    """Read a model file, add the requested loads and points, and convert it where they are asked
    for to natural coordinates."""
    description = with_additions(read(path, options.reading), options.loads, options.points)
    if NATURAL_COORDINATES.name not in options.formulations:
        return description
    if len(options.formulations) > 1:
        raise RequestError(
            f"{NATURAL_COORDINATES.name} has a module of its own, with other coordinates: name it "
            "alone (symgen compare lists it beside others)"
        )
    closed = mobility(description)
    if closed is None or closed.open_by:
        return in_natural_coordinates(description)
    return in_natural_coordinates(description, (closed.q, closed.qd))


def _warn_of_work(plan: BuildPlan, journal: Journal) -> None:
    """Give the notices that a user should see before long work."""
    warn_if_it_replaces(plan, journal)
    for notice in notices_of_size(plan.description):
        journal.notice(notice, at_once=True)


def _warn_of_form(plan: BuildPlan, derived: Derived, journal: Journal) -> None:
    if plan.options.form == LOOPS and all(x.form == STRAIGHT for x in derived.reports):
        journal.notice(
            "--form loops: all kernels are in a straight line all the same; there are loops of "
            f"{', '.join(functions_with_rolled_form())}"
        )


def _warn_of_open_tree(plan: BuildPlan, journal: Journal) -> None:
    if plan.options.casadi and plan.description.n_constraints:
        journal.notice(
            "--casadi: the library has inverse_dynamics of the tree cut open, and nothing of the "
            "closed mechanism; symgen.casadi(module) has constrained_inverse_dynamics and "
            "constrained_forward_dynamics"
        )


def _report_up_to_date(plan: BuildPlan, journal: Journal) -> BuildReport:
    built = tuple(x.name for x in KNOWN if (plan.target / f"{x.name}.py").is_file())
    report, notices = _bare_report(plan), tuple(journal.notices)
    return replace(report, formulations=built, up_to_date=True, notices=notices)


def _bare_report(plan: BuildPlan) -> BuildReport:
    return BuildReport(
        robot=plan.description.name,
        n=plan.selection.n,
        nq=len(plan.description.position_names),
        folder=plan.target,
        backends=plan.backends,
        runtime_parameters=plan.selection.runtime_parameters,
        skipped=plan.selection.skipped,
        formulations=(),
    )


def _report(
    plan: BuildPlan,
    derived: Derived,
    bundle: SourceBundle,
    binaries: CompileResult | None,
    validation: ValidationResult,
) -> BuildReport:
    selection, built = derived.selection, derived.selection.built
    sources = sum(len(text.encode()) for text in bundle.files.values())
    return replace(
        _bare_report(plan),
        formulations=selection.formulations,
        function_names=selection.functions,
        evaluated=tuple(name for name in selection.evaluated if name not in built),
        functions=tuple(x for x in derived.reports if x.function in built.get(x.formulation, ())),
        lines=bundle.lines,
        size=sources + sum(map(len, _files_of(binaries).values())),
        compiler="" if plan.compiler is None else plan.compiler.name,
        command_seconds={} if binaries is None else binaries.seconds,
        compiled_now=binaries is not None and not binaries.cached,
        validation=validation,
    )


def _files_of(binaries: CompileResult | None) -> dict[str, bytes]:
    return {} if binaries is None else dict(binaries.files())


def _in_order(seconds: Mapping[str, float]) -> dict[str, float]:
    unordered = [name for name in seconds if name not in STAGES]
    return {name: seconds[name] for name in (*unordered, *STAGES) if name in seconds}


def _early_kernels(plan: BuildPlan, compiling: Compilation) -> EarlyKernels | None:
    """Return the printer of early kernels, or None if none should be compiled early.

    Kernels by a user's templates may include files that are printed at the end.
    """
    has_templates = plan.options.templates is not None
    if has_templates or compiled.NAME not in plan.backends or not compiling.takes_head_starts:
        return None
    return EarlyKernels(bare_package(plan.description, plan.selection, plan.options.equal))


@contextmanager
def _templates_compiled_once() -> Iterator[None]:
    """Load the compiled templates of earlier builds; store new ones."""
    cache, key = open_cache(), templates_key()
    if (stored := cache.binary(key)) is not None:
        use_compiled(stored)
    yield
    if (made := compiled_templates()) is not None:
        cache.store_binary(key, made)


@contextmanager
def _blaming(templates: Path | None) -> Iterator[None]:
    """Add a remark on a user's templates, if any, to the message of a failure."""
    words = f"the templates in {templates} were used (--templates), the fault may be theirs"
    try:
        yield
    except (ToolchainError, ValidationError) as error:
        if templates is not None:
            error.args = (f"{error}\n{words}", *error.args[1:])
        raise
    except SymgenError:
        raise
    except (Exception, SystemExit) as error:
        if templates is None:
            raise
        message = f"the generated code fails with {type(error).__name__}: {error}\n{words}"
        raise ToolchainError(message) from error


def _libraries(bundle: SourceBundle, plan: BuildPlan, journal: Journal) -> dict[str, bytes]:
    if not bundle.libraries or plan.compiler is None:
        return {}
    return compile_libraries(
        bundle,
        compiler=plan.compiler,
        flags=plan.options.flags,
        progress=lambda what, done, total: journal.progress(f"compile: {what}", done, total),
    )
