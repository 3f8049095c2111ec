"""The script on the cost of sensitivities: its models, its figures, and that it runs."""

import importlib.util
import json
import re

import numpy as np
import pytest

import symgen
from tests import modules
from tests.examples.test_scripts import run_script
from tests.modules import ROOT

pytestmark = pytest.mark.slow  # all load the script, and with it matplotlib


def loaded(name):
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script():
    return loaded("cost_of_sensitivity")


@pytest.fixture
def results():
    return loaded("cost_of_sensitivity_results")


def made_up(results, ns, exponents=(4.0, 3.0, 1.0), factors=(10.0, 30.0, 80.0), p=1):
    """Measurements that follow powers of n, beside a forward dynamics of 7 ns."""
    cases = {}
    for method, power, factor in zip(results.METHODS, exponents, factors, strict=True):
        for n in ns:
            time = 7.0 + factor * p * n**power
            cases[results.key(method, n, p)] = {
                "times": {
                    f"{name} {label}": value
                    for name, value in zip(results.FUNCTIONS, (7.0, time), strict=True)
                    for label in ("single", "batch")
                },
                "operations": dict(zip(results.FUNCTIONS, (7, round(time)), strict=True)),
                "seconds": 1.0,
            }
    about = dict.fromkeys(("processor", "compiler", "python", "flags", "date"), "some")
    return {"machine": about, "cases": cases}


@pytest.mark.parametrize("n", [2, 3, 5])
def test_every_chain_has_the_same_kinds_of_parameters(script, tmp_path, n):
    model = symgen.read(script.model_file(tmp_path, n))
    assert len(model.joints) == n
    names = [parameter.name for parameter in model.parameters]
    first = ["mass_middle", "com_tip", "length_base", "inertia_middle"]
    assert names[:4] == list(script.PARAMETERS[:4]) == first
    assert len(names) == (8 if n == 2 else 12)
    assert not model.warnings
    assert script.parameters(n, 8) == tuple(names[:8])


def test_nothing_of_a_chain_is_zero(script, tmp_path):
    module = modules.module(script.model_file(tmp_path, 3), functions="mass_matrix")
    assert np.all(np.abs(np.array(module.inertial_parameters)) > 0)
    assert len(module.inertial_parameters) == 30


def test_exponents_crossings_and_lines_are_those_of_the_measurements(results):
    store = made_up(results, (2, 4, 8, 12, 16, 24, 48, 96))
    by_time = results.against_n(store, "kane", 1, "single", per_parameter=True)
    slope, _, sizes = results.exponent(by_time, 12, 96)
    assert slope == pytest.approx(1.0) and sizes == [12, 16, 24, 48, 96]
    row = results.exponents_table(store)[2]
    assert row == "| traditional | 1 | 8 ... 24 | 4.00 | 4.00 | 4.00 |"
    store = made_up(results, (2, 4, 8), exponents=(2.0, 2.0, 1.0), factors=(10.0, 20.0, 30.0))
    slow, partial, fast = (
        results.against_n(store, m, 1, "single", per_parameter=True) for m in results.METHODS
    )
    assert results.crossing(slow, fast) == "n = 3.0"
    assert results.crossing(partial, fast) == "below n = 2"
    assert results.crossing(fast, partial) == "above n = 8"
    assert results.straight({p: 5.0 + 3.0 * p for p in (1, 2, 4)}) == pytest.approx((5, 3, 0))
    *_, off = results.straight({1: 100.0, 2: 200.0, 3: 240.0})
    assert 5 < off < 15


def test_what_is_not_built_is_said(results, tmp_path):
    store = made_up(results, (12, 16, 24))
    del store["cases"]["explicit_kane 24 1"]["times"]
    row = results.times_table(store, 1)[-1]
    assert row.count("not built") == 2
    results.plot(tmp_path / "figure.png", store)
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_the_document_takes_the_tables(results, tmp_path, monkeypatch):
    document, figure = tmp_path / "document.md", tmp_path / "figure2.png"
    monkeypatch.setattr(results, "DOCUMENT", document)
    figure.write_bytes(b"a figure")
    text = results.BEGIN.format("exponents") + "\nold\n" + results.END.format("exponents")
    document.write_text(f"before\n{text}\nafter\n")
    tables = results.report(made_up(results, (12, 16, 24)))
    results.write_document(tables, figure)
    results.write_document(tables, figure)
    lines = document.read_text().split("\n")
    assert lines[2:-3] == tables["exponents"]
    assert lines[0] == "before" and lines[-2] == "after"
    assert document.with_suffix(".png").read_bytes() == b"a figure"


def test_the_document_has_a_place_for_every_table(results):
    text = results.DOCUMENT.read_text()
    store = made_up(results, (4, 12), p=4)
    store["cases"] |= made_up(results, (4, 12))["cases"]
    for mark, lines in results.report(store).items():
        begin, end = results.BEGIN.format(mark), results.END.format(mark)
        held = text[text.index(begin) + len(begin) : text.index(end)].strip().split("\n")
        assert held[0] == lines[0] or mark == "machine"


@pytest.mark.deep
def test_the_script_runs_and_resumes(tmp_path):
    pytest.importorskip("matplotlib")
    done = run_script("cost_of_sensitivity", "--plot-only", cwd=tmp_path)
    assert done.returncode == 1 and "nothing was measured yet" in done.stderr
    done = run_script("cost_of_sensitivity", "--quick", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "cost_of_sensitivity"
    times = (folder / "times.json").read_text()
    cases = json.loads(times)["cases"]
    assert len(cases) == 3 * 3 * 2
    assert all(min(record["times"].values()) > 0 for record in cases.values())
    assert (folder / "figure2.png").stat().st_size > 10_000
    assert len(re.findall(r"^\w+(?: \w+)? +n = ", done.stdout, re.M)) == 18
    again = run_script("cost_of_sensitivity", "--quick", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "built in" not in again.stdout
    assert json.loads((folder / "times.json").read_text())["cases"] == cases
    shorter = {name: record for name, record in cases.items() if name != "kane 4 2"}
    kept = json.loads(times) | {"cases": shorter}
    (folder / "times.json").write_text(json.dumps(kept))
    third = run_script("cost_of_sensitivity", "--quick", cwd=tmp_path)
    assert third.stdout.count("built in") == 3  # the methods of one n and p are timed together
