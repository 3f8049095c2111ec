"""Names of the model in source: unique, legal in every language, never code."""

import keyword

import pytest

from symgen.emit import text
from symgen.emit.bundle import Forms
from symgen.emit.emission import emit
from symgen.emit.kernels import kernel
from symgen.emit.names import RESERVED, identifier
from symgen.emit.printing import CYTHON, NUMPY, C
from tests.choosing import some_slow
from tests.emit.samples import Writer, arm, metadata, package, random_package


@pytest.mark.parametrize("name", ["", "a b", "a;b", "1a", "_a", "ä", "a\n", "a-b", "a.b", "a\0"])
def test_what_is_no_identifier_is_refused(name):
    with pytest.raises(ValueError, match="identifier"):
        identifier(name)


def test_keywords_and_functions_are_reserved():
    assert set(keyword.kwlist) <= RESERVED
    for language in (C, CYTHON, NUMPY):
        assert set(language.functions.values()) <= RESERVED


@pytest.mark.parametrize("seed", range(2))
def test_local_names_collide_with_nothing(seed):
    facts = random_package(seed, 200)
    for forms in facts.programs["newton_euler"].values():
        k = kernel("newton_euler", forms, facts.metadata.sizes)
        names = list(k.body.names.values())
        assert len(names) == len(set(names))
        assert not set(names) & RESERVED
        assert not set(names) & {array.name for array in k.arrays}


def test_parameters_are_prefixed_and_temporaries_renamed():
    facts = metadata("robot", 1, parameter_names=("tau",), default_parameters=(1.0,))
    w = Writer("inverse_dynamics", facts.sizes, ("tau",))
    (q,) = w.inputs["q"]
    (parameter,) = w.parameters
    with w.builder.step("forward"):
        first = w.builder.let("double", q * parameter, "CF-1")
        second = w.builder.let("double_", first * q, "CF-1")
        third = w.builder.let("p_tau", second * first, "CF-1")
        fourth = w.builder.let("qd", third * second * first, "CF-1")
    k = kernel("f", Forms(w.finish("f", [fourth])), facts.sizes)
    names = {
        node.index: k.body.names[node.index] for node in (parameter, first, second, third, fourth)
    }
    assert list(names.values()) == ["p_tau", "double__", "double_", "p_tau_", "qd_"]


@pytest.mark.parametrize("field", ["name", "coordinate_names"])
def test_a_hostile_name_stops_emission(field):
    if field == "name":
        with pytest.raises(ValueError, match="identifier"):
            emit(package([arm("mass_matrix")], metadata("x; import os", 2)))
    else:
        w = Writer("mass_matrix", {"n": 1, "nq": 1, "n_parameters": 0}, ())
        with w.builder.step("forward", "joint_1"):
            value = w.builder.let("x\nimport os", w.inputs["q"][0] * 2.0, "CF-1")
        with pytest.raises(ValueError, match="identifier"):
            emit(package([w.finish("f", [value])], metadata("robot", 1)))


BACKEND_SETS = [("numpy",), ("compiled", "cython")]
HOSTILE = 'x"""\nimport os; os.abort() # \\ */ #error \u202e end of ??/\ncomment \\'


@pytest.mark.parametrize("backends", some_slow(BACKEND_SETS, BACKEND_SETS[:1], alone=True), ids=str)
def test_hostile_texts_stay_comments(tmp_path, backends):
    from tests.emit.building import build

    facts = metadata("robot", 1, description=HOSTILE, model_hash=HOSTILE, symgen_version=HOSTILE)
    w = Writer("mass_matrix", facts.sizes, ())
    with w.builder.step(HOSTILE, "joint_1"):
        value = w.builder.let("x", w.inputs["q"][0] * 2.0, HOSTILE)
    w.builder.output("mass_matrix", (1, 1), [value])
    program = w.builder.build("robot", "f", "mass_matrix", {HOSTILE: HOSTILE})
    module = build(package([program], facts), tmp_path, backends)
    for backend in module.backends.values():
        assert backend.f.mass_matrix([2.0]).tolist() == [[4.0]]
    assert module.model_hash == HOSTILE


def test_text_helpers():
    assert text.plain(" a\n\tb\u202ec ") == "a b c"
    assert "*/" not in text.comment("a */ b")
    assert eval('"""' + text.docstring('"a" \\ """') + '"""') == '"a" \\ """'
    assert text.table([("a", "x"), ("long", "")]) == "    a     x\n    long"
