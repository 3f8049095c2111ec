"""Compilation and the first use of a tool chain, beside the rest of a build."""

import dataclasses
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from benchmarks.models import spatial_tree
from symgen.description import read
from symgen.emit.bundle import Extension, SourceBundle
from symgen.emit.emission import BACKEND_NAMES, emit
from symgen.errors import ToolchainError, ValidationError
from symgen.options import BuildOptions
from symgen.pipeline import building, scheduler
from symgen.pipeline import qualification as module
from symgen.pipeline.build_plan import planned, warn_if_it_replaces
from symgen.pipeline.qualification import qualification
from symgen.pipeline.scheduler import compilation
from symgen.support.journal import Journal
from symgen.toolchain.compiler import find_compiler
from symgen.toolchain.extensions import HeadStart, units
from symgen.toolchain.key import extension_inputs
from symgen.toolchain.processes import Processes
from symgen.validation.two_link import model_path
from symgen.validation.validate import ValidationResult
from tests.emit.samples import arm_package


def bundle_of(text):
    return SourceBundle("arm", {"_arm.c": text}, (Extension("_arm", "_arm.c"),))


@pytest.mark.slow
def test_what_is_begun_with_has_all_that_a_compiler_reads():
    begun = []
    whole = emit(arm_package(), BACKEND_NAMES, begin=begun.append)
    (first,) = begun
    assert first.extensions == whole.extensions and len(first.files) < len(whole.files)
    for extension in whole.extensions:
        assert extension_inputs(first, extension) == extension_inputs(whole, extension)


def test_a_build_that_replaces_a_fuller_one_says_so(tmp_path):
    fuller = BuildOptions(backend="numpy", out=tmp_path)
    few = dataclasses.replace(fuller, functions=("mass_matrix",))
    before, after = (planned(read(model_path()), x, Journal()) for x in (fuller, few))
    rows = [
        {"formulation": name, "function": function}
        for name, functions in before.selection.built.items()
        for function in functions
    ]
    before.target.mkdir()
    manifest = before.manifest({"functions": rows})
    (before.target / "manifest.json").write_text(manifest.manifest_text())
    (before.target / "build.json").write_text(manifest.build_text())
    journals = Journal(), Journal()
    for plan, journal in zip((before, after), journals, strict=True):
        warn_if_it_replaces(plan, journal)
    assert not journals[0].notices and len(journals[1].notices) == 1
    assert re.search(
        "had the functions inverse_dynamics, .* more, and has them no more", journals[1].notices[0]
    )


def test_a_fault_is_raised_where_it_is_waited_for():
    told = []
    with compilation(
        find_compiler(), "native", "", False, lambda what, *_: told.append(what)
    ) as it:
        it.begin(bundle_of("#error here\n"))
        with pytest.raises(ToolchainError, match="#error here"):
            it.result()
    with compilation(None, "native", "", False, lambda *_: None) as it:
        it.begin(SourceBundle("arm", {}))
        assert it.result() is None


def test_the_end_of_the_rest_ends_it(interrupt):
    with (
        pytest.raises(KeyboardInterrupt),
        compilation(find_compiler(), "native", "", False, lambda *_: None) as it,
    ):
        it.begin(bundle_of("int x;\n"))
        interrupt()


@pytest.mark.slow
def test_a_tool_chain_that_fails_is_told_before_the_robot(tmp_path, monkeypatch):
    """Both are being compiled; what is wrong with all robots is not said of this one."""
    former = module._validated

    def fails(*arguments):
        former(*arguments)
        raise ValidationError("the tool chain does not reproduce the two-link arm")

    monkeypatch.setattr(module, "_validated", fails)
    options = BuildOptions(out=tmp_path / "out", functions=("mass_matrix",))
    with pytest.raises(ValidationError, match="two-link arm"):
        building.build(model_path(), options, Journal())
    assert not (tmp_path / "out" / "two_link").exists()


@pytest.mark.slow
def test_what_begins_early_is_what_would_be_compiled_later(private_cache, tmp_path, monkeypatch):
    """The same binaries, byte by byte, no C file twice, and nothing begins that is known."""
    model = spatial_tree(range(3), "chain4")
    (tmp_path / "chain4.yaml").write_text(model)
    started = []
    run = Processes.run

    def counted(self, command, **options):
        started.append(tuple(command))
        return run(self, command, **options)

    def built(force=True):
        started.clear()
        options = BuildOptions(
            out=tmp_path / "out", force=force, formulations=("composite",),
            functions=("inverse_dynamics", "inverse_dynamics_derivatives"),
        )  # fmt: skip
        building.build(tmp_path / "chain4.yaml", options, Journal())
        files = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.so")}
        compiled = [command for command in started if "-c" in command]
        early = [command for command in compiled if "-o" in command and command[-1][0].isdigit()]
        return files, len(compiled), len(early)

    nothing = ValidationResult((), 0.0)
    monkeypatch.setattr(building, "qualification", lambda *a: nullcontext(lambda: False))
    monkeypatch.setattr(building, "validate_package", lambda *a, **k: nothing)
    sharing = BuildOptions(out=tmp_path / "two", functions=("mass_matrix",))
    building.build(model_path(), sharing, Journal())
    monkeypatch.setattr(Processes, "run", counted)
    monkeypatch.setattr(scheduler, "processors", lambda: 1)
    late = built()
    assert late[2] == 0
    monkeypatch.setattr(scheduler, "processors", lambda: 2)
    early = built()
    assert early[:2] == late[:2] and early[2] > 0
    shutil.rmtree(tmp_path / "out")
    assert built(force=False) == (late[0], 0, 0)


@pytest.mark.parametrize(("text", "serves"), [
    ("int x;\n", True),
    ("/* a robot */\nint x;\n", True),
    ("/* a robot */ int y; /* */\nint x;\n", False),
    ("int y;\nint x;\n", False),
    ("/* a robot */\nint y;\n", False),
])  # fmt: skip
def test_an_early_object_serves_what_differs_in_the_heading_alone(text, serves, tmp_path):
    source = SourceBundle("arm", {"a.c": "int x;\n"}, (Extension("_arm", "", ("a.c",)),))
    compiler = find_compiler()
    ((_, options),) = units(compiler, "native", source.extensions[0])
    with ThreadPoolExecutor(1) as pool, Processes() as processes:
        it = HeadStart(compiler, "native", tmp_path, processes, pool)
        it.begin(source)
        assert (it.task("a.c", options, text) is not None) is serves
        assert it.task("b.c", options, text) is None


NUMPY = (None, "native", ("numpy",))


@pytest.mark.slow
def test_once_for_every_backend(monkeypatch):
    asked = []
    former = module._two_link
    monkeypatch.setattr(
        module, "_two_link", lambda names, flags: (asked.append(names), former(names, flags))[1]
    )
    journal = Journal()
    with qualification(*NUMPY, journal) as finish:
        assert finish()
    assert "the NumPy backend" in journal.notices[0]
    with qualification(*NUMPY, journal) as finish:
        assert not finish()
    assert asked == [["numpy"]]


@pytest.mark.slow
def test_one_that_differs_is_not_used(monkeypatch):
    former = module.validate_two_link

    def fails(subjects):
        found = former(subjects)
        wrong = dataclasses.replace(found.rows[0], error=1.0)
        return dataclasses.replace(found, rows=(wrong, *found.rows[1:]))

    monkeypatch.setattr(module, "validate_two_link", fails)
    for _ in range(2):  # and it is not remembered as validated
        with (
            qualification(*NUMPY, Journal()) as finish,
            pytest.raises(ValidationError, match="does not reproduce the two-link arm"),
        ):
            finish()


@pytest.mark.slow
def test_a_fault_of_the_other_work_ends_it(interrupt):
    with (
        pytest.raises(KeyboardInterrupt),
        qualification(find_compiler(), "native", ("compiled", "numpy"), Journal()),
    ):
        interrupt()
