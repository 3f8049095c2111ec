"""The generated package as a whole: metadata, formulations, fallback, and life without symgen."""

import ast
import json
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

from symgen.emit.emission import BACKEND_NAMES, emit
from tests.emit.building import BACKENDS, load
from tests.emit.samples import ARM, ARM_FUNCTIONS, arm_package
from tests.safety.building import write
from tests.support.commands import printed_by


def test_metadata(arm_module):
    m = arm_module
    assert (m.name, m.n, m.n_links, m.n_loads, m.n_points) == ("two_link", 2, 2, 1, 0)
    assert m.n_parameters == 2 and m.parameter_names == ("m2", "lambda")
    assert m.coordinate_names == ARM.coordinate_names and m.load_names == ("tip",)
    assert m.default_parameters.tolist() == [0.5, 9.81]
    assert not m.default_parameters.flags.writeable
    assert m.inertial_parameters.tolist() == ARM.facts["inertial_parameters"].value
    assert not m.inertial_parameters.flags.writeable
    assert (m.joint_parents, m.branches, m.branch_parents) == ((0, 1), ((1, 2),), (0,))
    assert (m.joint_branches, m.junctions, m.leaves) == (((1, 2),), (), (2,))
    assert m.derivative_sparsity.tolist() == [[True, True], [True, True]]
    assert not m.derivative_sparsity.flags.writeable
    assert m.formulations == ("closed_form", "recursion")
    assert m.functions == ARM_FUNCTIONS
    assert m.operation_counts["closed_form"]["mass_matrix"]["additions"] == 3
    assert (m.model_hash, m.symgen_version) == ("0123abcd", "0.1")
    assert m.limits["lower"].tolist() == [-1.0, -1.0]
    assert m.limits["upper"].tolist() == [np.inf, np.inf]
    assert m.__doc__.startswith("two_link: Planar arm")


def test_backends_and_formulations(arm_module):
    assert arm_module.backend == "compiled"
    assert tuple(arm_module.backends) == BACKENDS == BACKEND_NAMES
    assert arm_module.mass_matrix is arm_module.recursion.mass_matrix
    assert arm_module.kinetic_energy is arm_module.closed_form.kinetic_energy
    assert arm_module.mass_matrix is arm_module.backends["compiled"].recursion.mass_matrix
    assert set(arm_module.recursion.__all__) == {"mass_matrix", "inverse_dynamics"}


def test_what_is_missing_says_so(arm_module):
    with pytest.raises(AttributeError, match="not built: symgen build"):
        _ = arm_module.coriolis_matrix
    with pytest.raises(AttributeError, match=r"closed_form\.kinetic_energy is there"):
        _ = arm_module.recursion.kinetic_energy
    with pytest.raises(AttributeError, match="not built: symgen build"):
        _ = arm_module.recursion.coriolis_matrix
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = arm_module.nonsense
    assert not hasattr(arm_module.recursion, "nonsense")


def test_names_of_other_libraries_are_told_ours(arm_module):
    with pytest.raises(AttributeError, match=r"a function of symgen: symgen.simulate\(two_link, "):
        _ = arm_module.simulate
    with pytest.raises(AttributeError, match=r"assemble is for models with .loops. or"):
        _ = arm_module.assemble
    with pytest.raises(AttributeError, match=r"others call rnea is \w+\.inverse_dynamics here"):
        _ = arm_module.rnea
    with pytest.raises(AttributeError, match=r"crba is \w+\.closed_form\.mass_matrix here"):
        _ = arm_module.closed_form.crba
    with pytest.raises(AttributeError, match=r"others call num_velocities is two_link\.n here"):
        _ = arm_module.num_velocities


def test_selftest_passes_on_every_backend(arm_module):
    rows = arm_module.selftest()
    assert len(rows) > 50 and not [str(row) for row in rows if not row.passed]
    text = "\n".join(map(str, rows))
    assert all(f"closed_form ({name})" in text for name in BACKENDS)


@pytest.mark.parametrize("file", ["__init__", "closed_form", "recursion"])
def test_stubs_declare_what_is_there(arm_module, file):
    stub = Path(str(arm_module.__file__)).with_name(f"{file}.pyi")
    tree = ast.parse(stub.read_text())
    module = arm_module if file == "__init__" else getattr(arm_module, file)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    variables = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert all(hasattr(module, name) for name in functions | variables)
    public = {name for name in dir(module) if not name.startswith("_")}
    public |= {"threads", "result_memory"} if file == "__init__" else set()  # of the module
    modules = {"closed_form", "recursion"}
    assert public - modules == functions | variables


def test_arithmetic_is_imported_when_it_is_used(arm_module):
    code = (
        "import sys, two_link;"
        "assert not [m for m in sys.modules if m.startswith('two_link._numpy.')];"
        "two_link.backends['numpy'].recursion.mass_matrix([0.0, 0.0]);"
        "assert 'two_link._numpy.recursion' in sys.modules;"
        "assert 'two_link._numpy.closed_form' not in sys.modules;"
        "assert not [m for m in sys.modules if m.split('.')[0] in ('symgen', 'sympy', 'jinja2')];"
        "assert two_link.backend == 'compiled'"
    )
    run_beside(arm_module, code)


def test_selftest_needs_nothing_but_numpy(arm_module):
    run_beside(
        arm_module,
        "import sys; sys.modules['symgen'] = None; import two_link;"
        "assert all(row.passed for row in two_link.selftest())",
    )


def run_beside(module, code):
    """Run `code` in a new Python that finds the package and, of symgen, nothing."""
    code = f"import sys; sys.path.insert(0, {str(Path(str(module.__file__)).parents[1])!r}); {code}"
    printed_by(sys.executable, "-W", "error", "-I", "-c", code, cwd="/")


FILE, FOREIGN = f"_compiled_0{EXTENSION_SUFFIXES[0]}", "_compiled_0.cpython-27-vax.so"


def entry(file=FILE, **more):
    return json.dumps({"compiled": {"module": "_compiled_0", "file": file, **more}})


def test_numpy_serves_silently_where_nothing_was_compiled(tmp_path):
    target = write(emit(arm_package(), ("numpy",)), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = load(target)
    assert module.backend == "numpy" and list(module.backends) == ["numpy"]
    assert all(row.passed for row in module.selftest())


@pytest.mark.parametrize(("listed", "reason"), [
    ("{", r"binaries\.json"),
    ('{"compiled": {}}', "'file'"),
    (entry(f"_absent{EXTENSION_SUFFIXES[0]}"), "is missing"),
    (entry(FOREIGN), "built for another Python"),
    (entry(machine="vax"), "built for a vax processor"),
    (entry(cpu_features=["sse2", "abacus"]), "this one lacks .*abacus; .*--flags portable"),
    (entry(), "compiled: .*_compiled_0"),
])  # fmt: skip
def test_numpy_serves_with_a_warning_otherwise(tmp_path, listed, reason):
    target = write(emit(arm_package(), ("numpy",)), tmp_path)
    (target / "binaries.json").write_text(listed)
    for name in (FILE, FOREIGN):
        (target / name).write_bytes(b"not a library")
    with pytest.warns(RuntimeWarning, match=reason) as record:
        module = load(target)
    assert len(record) == 1 and "symgen build two_link.yaml" in str(record[0].message)
    assert module.backend == "numpy"
    assert module.mass_matrix([0.0, 1.0]).shape == (2, 2)
    assert not [name for name in sys.modules if name.endswith("_compiled_0")]


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="fortran"):
        emit(arm_package(), ("fortran",))


def test_the_digest_tells_sources_apart():
    first = emit(arm_package(), ("numpy",))
    assert first.digest == emit(arm_package(), ("numpy",)).digest
    assert first.digest != emit(arm_package(), ("cython",)).digest
    assert first.lines == sum(text.count("\n") for text in first.files.values())
