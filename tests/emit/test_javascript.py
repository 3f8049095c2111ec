"""The JavaScript module, run by Node: every function against the evaluation of its program."""

import json
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest

from symgen.deriving.derivation import derive_all
from symgen.deriving.packaging import package_of
from symgen.deriving.selection import select
from symgen.description import read
from symgen.emit.emission import javascript_source
from symgen.emit.javascript import SCRIPT
from symgen.options import ALL, STRAIGHT, BuildOptions
from symgen.program.arguments import PARAMETERS
from symgen.program.functions import function_named
from tests.choosing import slow
from tests.emit.samples import arm_package, every_function, random_package
from tests.emit.test_kernels import LIBM, arguments_of, reference
from tests.modules import EXAMPLES, file_of
from tests.support.commands import printed_by

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")

CALLS = """
import * as generated from "./generated.mjs";
import {readFileSync} from "node:fs";
const calls = JSON.parse(readFileSync("calls.json", "utf8"));
const answers = calls.map(({formulation, name, positional, options}) => {
  const results = generated[formulation][name](...positional, options);
  return Object.values(results).map((array) => Array.from(array, String));
});
console.log(JSON.stringify(answers));
"""


def run(folder, source, calls):
    """The results of the calls, in order; digits are those that read back exactly."""
    (folder / "generated.mjs").write_text(source)
    (folder / "calls.mjs").write_text(CALLS)
    (folder / "calls.json").write_text(json.dumps(calls))
    answers = json.loads(printed_by(NODE, "calls.mjs", cwd=folder, timeout=120))
    return [[np.array(array, float) for array in answer] for answer in answers]


def call_of(formulation, name, given):
    function = function_named(name)
    flat = {key: np.ravel(value).tolist() for key, value in given.items()}
    options = [argument.name for argument in (*function.options, PARAMETERS)]
    return {
        "formulation": formulation,
        "name": name,
        "positional": [flat[argument.name] for argument in function.arguments],
        "options": {key: flat[key] for key in options if flat.get(key)},
    }


def check(source, folder, count=10, masses=False):
    """Random arguments; parameters that are `masses` and lengths are positive."""
    rng = np.random.default_rng(3)
    calls, expected = [], []
    for formulation, programs in source.programs.items():
        for name, forms in programs.items():
            for _ in range(count):
                given = arguments_of(name, source.metadata.sizes, rng)
                if masses:
                    given["parameters"] = np.abs(given["parameters"]) + 0.1
                calls.append(call_of(formulation, name, given))
                expected.append(reference(forms.straight, given, LIBM))
    for call, found, wanted in zip(
        calls, run(folder, javascript_source(source), calls), expected, strict=True
    ):
        for value, right in zip(found, wanted, strict=False):  # pivots are no results
            scale = max(1.0, np.max(np.abs(right), initial=0.0))
            np.testing.assert_allclose(
                value, np.ravel(right), rtol=1e-13, atol=1e-13 * scale, err_msg=str(call)
            )


@needs_node
@pytest.mark.parametrize(("make", "arguments", "count"), [
    (every_function, (), 10),
    (random_package, (0, 200), 10),
    *slow((random_package, (7, 9000), 2)),  # in several functions
])  # fmt: skip
def test_programs(tmp_path, make, arguments, count):
    source = make(*arguments)
    assert ("__inverse_dynamics__2(" in javascript_source(source)) == (count == 2)
    check(source, tmp_path, count)


def derived(model, **options):
    description = read(model)
    selection = select(description, BuildOptions(form=STRAIGHT, **options))
    return package_of(description, derive_all(description, selection, form=STRAIGHT))


@pytest.mark.slow
@needs_node
def test_a_robot_with_loads_parameters_and_all_formulations(tmp_path):
    every = {"formulations": (ALL,), "functions": (ALL,), "runtime_parameters": ("L2", "m2")}
    check(derived(EXAMPLES / "two_link.yaml", **every), tmp_path, 3, masses=True)


@needs_node
def test_a_singular_mass_matrix_gives_nan(tmp_path):
    model = file_of(
        "symgen: 1\nname: light\njoints:\n"
        "  - {name: a, type: revolute, origin: {}, link: {name: one, mass: 1, com: [1, 0, 0]}}\n"
        "  - {name: b, type: revolute, parent: one, origin: {}, link: {name: two, mass: 0}}\n"
    )
    source = javascript_source(derived(model, functions=("forward_dynamics",)))
    call = {"name": "forward_dynamics", "positional": [[0, 0], [0, 0], [1, 1]], "options": {}}
    answers = run(tmp_path, source, [{**call, "formulation": "kane"}])
    assert all(math.isnan(value) for value in answers[0][0])


@needs_node
def test_the_script_of_a_page_defines_the_same(tmp_path):
    script = javascript_source(arm_package(), SCRIPT)
    (tmp_path / "script.js").write_text(f"{script}\nconsole.log(Object.keys(symgen).join());\n")
    said = printed_by(NODE, "script.js", cwd=tmp_path, timeout=60)
    assert said.strip() == "robot,closed_form,recursion"


def test_text_of_a_stranger_stays_text():
    source = arm_package()
    names = ("</script><b>\u2028alert(1)", "`${alert(2)}`")
    source = javascript_source(replace(source, metadata=replace(source.metadata, link_names=names)))
    assert "\u2028" not in source
    assert '"`${alert(2)}`"' in source  # within a string in double quotes
