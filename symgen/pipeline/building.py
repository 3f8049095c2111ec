"""The build: every stage of `symgen.pipeline`, in order.

Nothing is installed before it is validated.  A tool chain that was never validated on this machine
builds the two-link arm while the robot is derived, and is compared with the printed formulas before
the robot is validated (`qualification`).  The robot is compiled while this process derives, from
the first long kernel on, prints what no compiler reads, derives what is only evaluated, and
validates what is not compiled (`compiling`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symgen.deriving.derivation import Derived, derive_built, with_evaluated
from symgen.deriving.digest import model_hash
from symgen.deriving.packaging import bare_package, package_of
from symgen.deriving.selection import Selection, functions_with_loops, notices_of_size, select
from symgen.description import RobotDescription, read
from symgen.description.additions import with_additions
from symgen.description.model import LinkPoint
from symgen.emit import compiled, cython, numpy
from symgen.emit.bundle import Forms, SourceBundle
from symgen.emit.emission import BACKEND_NAMES, EarlyKernels, emit
from symgen.emit.templates import compiled as compiled_templates
from symgen.emit.templates import own_templates, use_compiled
from symgen.emit.text import plain
from symgen.errors import RequestError, SymgenError, ToolchainError, ValidationError
from symgen.formulations import KNOWN
from symgen.options import ALL, LOOPS, STRAIGHT, BuildOptions
from symgen.pipeline.build_report import BuildReport
from symgen.pipeline.compiling import Compilation, compilation
from symgen.pipeline.qualification import qualification
from symgen.support.collector import paused_collector
from symgen.support.journal import Journal, Progress, silent
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compile import CompileResult, compile_libraries
from symgen.toolchain.compiler import (
    ZIG_PACKAGE,
    Compiler,
    CompilerMissingError,
    find_compiler,
)
from symgen.toolchain.install import Stage, check_place, stage
from symgen.toolchain.key import build_key, templates_key
from symgen.toolchain.loading import forget_package, load_built
from symgen.toolchain.manifest import Manifest, read_manifest
from symgen.validation.checks import subjects_of
from symgen.validation.compiled_mechanisms import accelerations, steps
from symgen.validation.conditioning import singularity_warnings
from symgen.validation.evaluated import evaluated_subjects, spared_rows
from symgen.validation.evaluation import Subject
from symgen.validation.mobility import mobility, open_loops
from symgen.validation.validate import Beginning, ValidationResult, begin, validate

STAGES = ("read", "tool chain", "derive", "emit", "compile", "validate", "install")
"""In the order in which they end; some begin anew while others wait."""


@dataclass(frozen=True)
class Built:
    """A build with what it was made from; `derived` is None where nothing had to be done."""

    description: RobotDescription
    selection: Selection
    report: BuildReport
    derived: Derived | None = None


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before work begins."""

    description: RobotDescription
    options: BuildOptions
    selection: Selection
    compiler: Compiler | None
    backends: tuple[str, ...]
    key: str
    target: Path


def build(path: str | Path, options: BuildOptions, journal: Journal | None = None) -> BuildReport:
    """Build the package of the model file `path`; see `BuildReport` for what comes back.

    Raises `ModelError`, `RequestError`, `ValidationError` or `ToolchainError`; then nothing was
    installed and what was there before is as it was.
    """
    return run(path, options, journal or Journal()).report


def run(path: str | Path, options: BuildOptions, journal: Journal) -> Built:
    """`build`, for those who go on working with the description and the programs."""
    plan = _plan(path, options, journal)
    report = BuildReport(
        robot=plan.description.name,
        n=plan.selection.n,
        nq=len(plan.description.position_names),
        folder=plan.target,
        backends=plan.backends,
        runtime_parameters=plan.selection.runtime_parameters,
        skipped=plan.selection.skipped,
        formulations=(),
    )
    for warning in plan.description.warnings:
        journal.notice(f"warning: {warning}")
    if not options.force and _is_up_to_date(plan):
        built = tuple(x.name for x in KNOWN if (plan.target / f"{x.name}.py").is_file())
        notices = tuple(journal.notices)
        report = replace(report, formulations=built, up_to_date=True, notices=notices)
        return Built(plan.description, plan.selection, report)
    _tell_if_it_replaces(plan, journal)
    for notice in notices_of_size(plan.description):
        journal.notice(notice, at_once=True)
    for warning in singularity_warnings(plan.description):
        journal.notice(f"warning: {warning}")
    compiler, flags = plan.compiler, options.flags
    with (
        _templates_compiled_once(),
        qualification(compiler, flags, plan.backends, journal) as qualify,
        compilation(compiler, flags, plan.key, options.force, journal.progress) as compiling,
        paused_collector(),
    ):
        with _blaming(options.templates):
            derived, bundle = _derive(plan, compiling, journal)
            report = replace(report, **_chosen(derived.selection))
        with stage(plan.target) as staged, ExitStack() as loaded:
            with _blaming(options.templates), journal.stage("validate"):
                staged.write_sources(bundle.files)
                begun = beginning_of_validation(plan, derived, staged.folder, journal.progress)
                beginning = loaded.enter_context(begun)
            report = replace(report, toolchain_validated_now=qualify())
            with _blaming(options.templates):
                made = _compiled(plan, bundle, compiling, journal)
                report = _make(plan, derived, bundle, made, staged, beginning, report, journal)
    for warning in open_loops(plan.description, report.mobility):
        journal.notice(f"warning: {warning}")
    report = replace(report, notices=tuple(journal.notices), seconds=_in_order(journal.seconds))
    return Built(plan.description, derived.selection, report, derived)


def _chosen(selection: Selection) -> dict[str, Any]:
    """Return the entries of a report on what is built, and what is evaluated beside it."""
    return {
        "formulations": selection.formulations,
        "function_names": selection.functions,
        "evaluated": tuple(name for name in selection.evaluated if name not in selection.built),
    }


def _in_order(seconds: Mapping[str, float]) -> dict[str, float]:
    unordered = [name for name in seconds if name not in STAGES]
    return {name: seconds[name] for name in (*unordered, *STAGES) if name in seconds}


def described(path: str | Path, options: BuildOptions) -> RobotDescription:
    """The model of a file, with the loads and points that are asked for beside its own."""
    return with_additions(read(path, options.reading), options.loads, options.points)


def _plan(path: str | Path, options: BuildOptions, journal: Journal) -> Plan:
    with journal.stage("read"):
        description = described(path, options)
    selection = select(description, options)
    compiler, backends = _backends(description, options, journal)
    key = _key(description, options, selection, compiler, backends)
    target = _target(description, options, key)
    check_place(target)
    return Plan(description, options, selection, compiler, backends, key, target)


def _derive(plan: Plan, compiling: Compilation, journal: Journal) -> tuple[Derived, SourceBundle]:
    """Derive and emit; compilation begins as soon as there is something to compile."""
    early = _early_kernels(plan, compiling)
    serving = Counter(name for functions in plan.selection.built.values() for name in functions)

    def compile_early(formulation: str, function: str, forms: Forms) -> None:
        is_only_one = serving[function] == 1
        source = early.add(formulation, function, forms) if early and is_only_one else None
        if source is not None:
            compiling.begin_early(source)

    with journal.stage("derive"):
        # RobotDescription -> Programs, optimised
        derived = derive_built(
            plan.description,
            plan.selection,
            journal.progress,
            plan.options.form,
            loops_alone=cython.NAME not in plan.backends,
            made=compile_early,
        )
        if plan.options.form == LOOPS and all(x.form == STRAIGHT for x in derived.reports):
            journal.notice(
                "--form loops: all kernels are in a straight line all the same; there are loops of "
                f"{', '.join(functions_with_loops())}"
            )
    with journal.stage("emit"):
        # Programs -> SourceBundle
        package = package_of(plan.description, derived, plan.options.equal)
        package = replace(package, plain_c=plan.options.plain_c, casadi=plan.options.casadi)
        bundle = emit(package, plan.backends, plan.options.templates, compiling.begin, early)
    with journal.stage("derive"):
        return with_evaluated(derived, plan.description, journal.progress), bundle


def _early_kernels(plan: Plan, compiling: Compilation) -> EarlyKernels | None:
    """Return the printer of early kernels, or None where none is compiled meanwhile.

    Not with templates of the user's: their kernels may read what is only known at the end, such as
    the header of the robot.
    """
    has_templates = plan.options.templates is not None
    if has_templates or compiled.NAME not in plan.backends or not compiling.takes_head_starts:
        return None
    return EarlyKernels(bare_package(plan.description, plan.selection, plan.options.equal))


def _compiled(
    plan: Plan, bundle: SourceBundle, compiling: Compilation, journal: Journal
) -> tuple[CompileResult | None, Mapping[str, bytes]]:
    """The binaries of the package, None without a compiler, and its libraries."""
    with journal.stage("compile"):
        # SourceBundle -> binaries
        return compiling.result(), _compile_libraries(bundle, plan, journal)


def _make(
    plan: Plan,
    derived: Derived,
    bundle: SourceBundle,
    made: tuple[CompileResult | None, Mapping[str, bytes]],
    staged: Stage,
    beginning: Beginning | None,
    report: BuildReport,
    journal: Journal,
) -> BuildReport:
    """Validate and install what is `staged`; the report filled in."""
    binaries, libraries = made
    if binaries is not None:
        staged.write_binaries({**binaries.files(), **libraries})
    with journal.stage("validate"):
        # the staged package -> ValidationResult
        arguments = plan.description, derived, staged.folder, plan.backends
        validation = validate_package(*arguments, beginning=beginning, progress=journal.progress)
    validation.raise_if_failed()
    built = derived.selection.built
    report = replace(
        report,
        functions=tuple(
            item for item in derived.reports if item.function in built.get(item.formulation, ())
        ),
        lines=bundle.lines,
        size=_size(bundle, binaries),
        compiler="" if plan.compiler is None else plan.compiler.name,
        command_seconds={} if binaries is None else binaries.seconds,
        compiled_now=binaries is not None and not binaries.cached,
        validation=validation,
        mobility=mobility(plan.description),
    )
    with journal.stage("install"):
        origin, runtime = _origin(plan.description), plan.selection.runtime_parameters
        description = plan.description
        staged.install(
            plan.key, origin, runtime, _names(description.loads), _names(description.points),
            report.made(),
        )  # fmt: skip
    return report


@contextmanager
def _templates_compiled_once() -> Iterator[None]:
    """Use the code that former builds have made of symgen's templates; keep what is new."""
    cache, key = open_cache(), templates_key()
    if (stored := cache.binary(key)) is not None:
        use_compiled(stored)
    yield
    if (made := compiled_templates()) is not None:
        cache.store_binary(key, made)


@contextmanager
def _blaming(templates: Path | None) -> Iterator[None]:
    """Where templates of the user's were used, a failure says so: the fault may be theirs."""
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


def _compile_libraries(bundle: SourceBundle, plan: Plan, journal: Journal) -> dict[str, bytes]:
    if not bundle.libraries or plan.compiler is None:
        return {}
    return compile_libraries(
        bundle,
        compiler=plan.compiler,
        flags=plan.options.flags,
        progress=lambda what, done, total: journal.progress(f"compile: {what}", done, total),
    )


@contextmanager
def beginning_of_validation(
    plan: Plan, derived: Derived, folder: Path, progress: Progress = silent
) -> Iterator[Beginning | None]:
    """Begin a validation with the subjects that need no compiled code: the package in `folder` by
    NumPy, and evaluated programs.  The package may import modules of its own until the end of the
    block."""
    module = load_built(folder, (numpy.NAME,))
    try:
        subjects = [subject for subject in subjects_of(module) if subject.complex_step]
        subjects += _evaluated(plan.description, derived)
        runtime = plan.selection.runtime_parameters
        yield begin(plan.description, subjects, runtime=runtime, progress=progress)
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

    Those left out are in the table, as rows without samples.  `beginning` is what
    `beginning_of_validation` has made of the same.
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
        return replace(result, rows=(*result.rows, *compiled, *spared_rows(selection.spared)))
    finally:
        forget_package(module)


def _backends(
    description: RobotDescription, options: BuildOptions, journal: Journal
) -> tuple[Compiler | None, tuple[str, ...]]:
    """The compiler, where one is needed and found, and the backends to print."""
    if options.casadi and options.backend not in (None, compiled.NAME, ALL):
        raise RequestError(
            f"--casadi writes C beside the compiled backend, and the backend is {options.backend}; "
            "leave out --backend"
        )
    if options.casadi and description.is_timed:
        raise RequestError(
            f"{description.file}: --casadi: a force of the model mentions the time, t, which "
            "functions for CasADi do not take; give it as one of 'loads'"
        )
    if options.backend == "numpy":
        return None, ("numpy",)
    wanted = {None: ("compiled",), ALL: BACKEND_NAMES}.get(
        options.backend, (options.backend or "compiled",)
    )
    try:
        return find_compiler(), (*wanted, *(() if "numpy" in wanted else ("numpy",)))
    except CompilerMissingError:
        if options.backend is not None or options.casadi:
            raise
        journal.notice(
            "no C compiler was found: the NumPy backend is built instead; pip install "
            f"{ZIG_PACKAGE} brings a compiler"
        )
        return None, ("numpy",)


def _key(
    description: RobotDescription,
    options: BuildOptions,
    selection: Selection,
    compiler: Compiler | None,
    backends: tuple[str, ...],
) -> str:
    choices: Mapping[str, object] = {
        "built": {name: list(functions) for name, functions in selection.built.items()},
        "backends": backends,
        "runtime_parameters": selection.runtime_parameters,
        "form": options.form,
        "equal": options.equal,
        "plain_c": options.plain_c,
        "casadi": options.casadi,
    }
    templates = None if options.templates is None else own_templates(options.templates)
    return build_key(model_hash(description), choices, compiler, options.flags, templates)


def _target(description: RobotDescription, options: BuildOptions, key: str) -> Path:
    if options.out is not None:
        return Path(options.out).absolute() / description.name
    return open_cache().module_folder(key, description.name)


def _origin(description: RobotDescription) -> str:
    return str(Path(description.file).absolute())


def _tell_if_it_replaces(plan: Plan, journal: Journal) -> None:
    """Say so before a module is replaced that is not meant to be: that of another model with the
    same name, or one with other arguments."""
    former = read_manifest(plan.target) if plan.target.is_dir() else None
    if former is None or not former.origin:
        return
    if former.origin == _origin(plan.description):
        _tell_if_arguments_change(former, plan, journal)
        return
    journal.notice(
        f"warning: {plan.target} was built from {plain(former.origin)}, a model of the same "
        "name; it is replaced"
    )


def _names(places: Iterable[LinkPoint]) -> tuple[str, ...]:
    return tuple(place.name for place in places)


def _tell_if_arguments_change(former: Manifest, plan: Plan, journal: Journal) -> None:
    now = plan.selection.runtime_parameters
    if former.runtime_parameters and former.runtime_parameters != now:
        names = plain(", ".join(former.runtime_parameters))
        journal.notice(
            f"warning: the module in {plan.target} took the parameters {names}; now it "
            f"takes {', '.join(now) or 'none'} (--runtime-parameters)"
        )
    for kind, before, names_now in (
        ("load", former.loads, _names(plan.description.loads)),
        ("point", former.points, _names(plan.description.points)),
    ):
        gone = [name for name in before if name not in names_now]
        if gone:
            journal.notice(
                f"warning: the module in {plan.target} had the {kind}{'s' * (len(gone) > 1)} "
                f"{plain(', '.join(gone))}, and has {'them' if gone[1:] else 'it'} no more "
                f"(--{kind} LINK, or {kind}s: in the model file)"
            )


def _is_up_to_date(plan: Plan) -> bool:
    if not plan.target.is_dir() or plan.target.is_symlink():
        return False
    manifest = read_manifest(plan.target)
    return (
        manifest is not None and manifest.build_key == plan.key and manifest.is_intact(plan.target)
    )


def _size(bundle: SourceBundle, binaries: CompileResult | None) -> int:
    sources = sum(len(text.encode()) for text in bundle.files.values())
    return sources + sum(
        len(content) for content in (binaries.files() if binaries else {}).values()
    )
