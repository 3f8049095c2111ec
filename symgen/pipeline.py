"""From a model file to a validated package: the way through the house, stage by stage.

    read      path                -> RobotDescription   symgen.description
    derive    RobotDescription    -> Programs           symgen.kinematics, symgen.formulations
    optimize  Program             -> Program            symgen.optimize (folding, dead code)
    emit      Programs            -> SourceBundle       symgen.emit
    compile   SourceBundle        -> CompileResult      symgen.toolchain
    stage     both                -> Stage              symgen.toolchain
    validate  the staged package  -> ValidationResult   symgen.validation
    install   Stage               -> package folder     symgen.toolchain

Nothing is installed before it is validated.  A tool chain that was never validated on this machine
first builds the two-link arm and is held against the printed formulas (`symgen.qualification`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from symgen import __version__
from symgen.derivation import Derived, Selection, derive_all, model_hash, package_of, select
from symgen.description import RobotDescription, read
from symgen.emit.bundle import SourceBundle
from symgen.emit.emission import emit
from symgen.options import BuildOptions
from symgen.qualification import qualify
from symgen.report import BuildReport, FunctionReport
from symgen.toolchain.cache import open_cache
from symgen.toolchain.compile import CompileResult, compile_extensions
from symgen.toolchain.compiler import Compiler, CompilerMissingError, find_compiler
from symgen.toolchain.install import stage
from symgen.toolchain.key import build_key
from symgen.toolchain.loading import forget_package, load_package
from symgen.toolchain.manifest import read_manifest
from symgen.validation.checks import subjects_of
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import ValidationResult, validate

Progress = Callable[[str, int, int], None]
"""Told (what is being done, done, total)."""


@dataclass
class Journal:
    """What a build tells about itself while it runs: progress, notices, seconds by stage."""

    progress: Progress = lambda stage, done, total: None
    notify: Callable[[str], None] = lambda message: None
    notices: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def notice(self, message: str) -> None:
        """Tell the user now, and remember it for the report."""
        self.notices.append(message)
        self.notify(message)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage and announce it."""
        self.progress(name, 0, 0)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def build(path: str | Path, options: BuildOptions, journal: Journal | None = None) -> BuildReport:
    """Build the package of the model file `path`; see `BuildReport` for what comes back.

    Raises `ModelError`, `RequestError`, `ValidationError` or `ToolchainError`; then nothing was
    installed and what was there before is as it was.
    """
    journal = journal or Journal()
    with journal.stage("read"):
        description = read(path)
    for warning in description.warnings:
        journal.notice(f"warning: {warning}")
    selection = select(description, options)
    compiler, backends = _backends(options, journal)
    key = _key(description, options, selection, compiler, backends)
    target = _target(description, options, key)
    if not options.force and _is_up_to_date(target, key):
        return BuildReport(
            description.name,
            selection.n,
            target,
            selection.formulations,
            backends,
            up_to_date=True,
            notices=tuple(journal.notices),
        )
    qualified_now = qualify(compiler, options.flags, backends, journal)
    return _build(
        description, options, selection, compiler, backends, key, target, journal, qualified_now
    )


def _build(
    description: RobotDescription,
    options: BuildOptions,
    selection: Selection,
    compiler: Compiler | None,
    backends: tuple[str, ...],
    key: str,
    target: Path,
    journal: Journal,
    qualified_now: bool,
) -> BuildReport:
    with journal.stage("derive"):
        # RobotDescription -> Programs, optimised
        derived = derive_all(description, selection, journal.progress)
    with journal.stage("emit"):
        # Programs -> SourceBundle
        package = package_of(description, selection, derived)
        bundle = emit(package, backends, options.templates)
    binaries: CompileResult | None = None
    if bundle.extensions:
        with journal.stage("compile"):
            # SourceBundle -> binaries
            binaries = compile_extensions(
                bundle,
                compiler=compiler,
                flags=options.flags,
                progress=lambda what, done, total: journal.progress(
                    f"compile: {what}", done, total
                ),
                force=options.force,
            )
    with stage(target) as staged:
        staged.write_sources(bundle.files)
        if binaries is not None:
            staged.write_binaries(binaries.files())
        with journal.stage("validate"):
            validation = validate_package(description, selection, derived, staged.folder)
        validation.raise_if_failed()
        with journal.stage("install"):
            staged.install(key)
    return BuildReport(
        robot=description.name,
        n=selection.n,
        folder=target,
        formulations=selection.formulations,
        backends=backends,
        functions=_function_reports(derived, selection.formulations),
        skipped=selection.skipped,
        notices=tuple(journal.notices),
        seconds=dict(journal.seconds),
        lines=bundle.lines,
        size=_size(bundle, binaries),
        compiler="" if compiler is None or binaries is None else compiler.name,
        toolchain_validated_now=qualified_now,
        validation=validation,
    )


def validate_package(
    description: RobotDescription,
    selection: Selection,
    derived: Derived,
    folder: Path,
    samples: int | None = None,
) -> ValidationResult:
    """Validate the package in `folder`, and every formulation that was derived but not selected."""
    module = load_package(folder)
    try:
        subjects = [
            *subjects_of(module),
            *evaluated_subjects(derived.programs, without=selection.formulations),
        ]
        return validate(description, subjects, samples)
    finally:
        forget_package(module)


def _backends(options: BuildOptions, journal: Journal) -> tuple[Compiler | None, tuple[str, ...]]:
    """The compiler, where one is needed and found, and the backends to print."""
    if options.backend == "numpy":
        return None, ("numpy",)
    wanted = {None: ("compiled",), "all": ("compiled", "cython", "numpy")}.get(
        options.backend, (options.backend or "compiled",)
    )
    try:
        return find_compiler(), (*wanted, *(() if "numpy" in wanted else ("numpy",)))
    except CompilerMissingError:
        if options.backend is not None:
            raise
        journal.notice("no C compiler was found: the NumPy backend is built instead")
        return None, ("numpy",)


def _key(
    description: RobotDescription,
    options: BuildOptions,
    selection: Selection,
    compiler: Compiler | None,
    backends: tuple[str, ...],
) -> str:
    choices: Mapping[str, object] = {
        "formulations": selection.formulations,
        "functions": selection.functions,
        "backends": backends,
    }
    templates = () if options.templates is None else (options.templates,)
    return build_key(model_hash(description), choices, compiler, options.flags, templates)


def _target(description: RobotDescription, options: BuildOptions, key: str) -> Path:
    if options.out is not None:
        return Path(options.out).absolute() / description.name
    return open_cache().module_folder(key, description.name)


def _is_up_to_date(target: Path, key: str) -> bool:
    manifest = read_manifest(target) if target.is_dir() and not target.is_symlink() else None
    return manifest is not None and manifest.build_key == key and manifest.is_intact(target)


def _function_reports(
    derived: Derived, formulations: tuple[str, ...]
) -> tuple[FunctionReport, ...]:
    return tuple(report for report in derived.reports if report.formulation in formulations)


def _size(bundle: SourceBundle, binaries: CompileResult | None) -> int:
    sources = sum(len(text.encode()) for text in bundle.files.values())
    return sources + sum(
        len(content) for content in (binaries.files() if binaries else {}).values()
    )


__all__ = ["BuildOptions", "Journal", "__version__", "build", "validate_package"]
