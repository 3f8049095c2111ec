"""Compilation beside the rest of a build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symgen.emit.bundle import Extension, SourceBundle
from symgen.emit.emission import BACKEND_NAMES, emit
from symgen.errors import ToolchainError, ValidationError
from symgen.options import BuildOptions
from symgen.pipeline import building, qualification
from symgen.pipeline.compiling import compilation
from symgen.support.journal import Journal
from symgen.toolchain.compiler import find_compiler
from symgen.toolchain.key import extension_inputs
from symgen.validation.two_link import model_path
from tests.emit.samples import arm_package


def bundle_of(text: str) -> SourceBundle:
    return SourceBundle("arm", {"_arm.c": text}, (Extension("_arm", "_arm.c"),))


def test_what_is_begun_with_has_all_that_a_compiler_reads() -> None:
    begun: list[SourceBundle] = []
    whole = emit(arm_package(), BACKEND_NAMES, begin=begun.append)
    (first,) = begun
    assert first.extensions == whole.extensions and len(first.files) < len(whole.files)
    for extension in whole.extensions:
        assert extension_inputs(first, extension) == extension_inputs(whole, extension)


def test_a_fault_is_raised_where_it_is_waited_for() -> None:
    told: list[str] = []
    with compilation(find_compiler(), "native", False, lambda what, *_: told.append(what)) as it:
        it.begin(bundle_of("#error here\n"))
        with pytest.raises(ToolchainError, match="#error here"):
            it.result()
    with compilation(None, "native", False, lambda *_: None) as it:
        it.begin(SourceBundle("arm", {}))
        assert it.result() is None


def test_the_end_of_the_rest_ends_it(interrupt: Callable[[], None]) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        compilation(find_compiler(), "native", False, lambda *_: None) as it,
    ):
        it.begin(bundle_of("int x;\n"))
        interrupt()


def test_a_tool_chain_that_fails_is_told_before_the_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are being compiled; what is wrong with all robots is not said of this one."""
    former: Any = qualification._raise_if_it_differs

    def fails(result: Any) -> None:
        former(result)
        raise ValidationError("the tool chain does not reproduce the two-link arm")

    monkeypatch.setattr(qualification, "_raise_if_it_differs", fails)
    options = BuildOptions(out=tmp_path / "out", functions=("mass_matrix",))
    with pytest.raises(ValidationError, match="two-link arm"):
        building.build(model_path(), options, Journal())
    assert not (tmp_path / "out" / "two_link").exists()
