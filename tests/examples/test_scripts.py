"""Scripts of examples: their help, what is missing, and that their methods agree."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FIGURE = Path("double_pendulum_sensitivity") / "figures4to7.png"
# at 20 s: kinetic energy, and its derivatives by L1, L2, M_P, M_Q
AT_THE_END = ("2.541083950", "75.367716", "83.273340", "-17.339427", "19.880511")


def run_script(name, *arguments, cwd):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("script", "missing"), [
    ("double_pendulum_sensitivity", "scipy"),
    ("double_pendulum_sensitivity", "matplotlib"),
    ("double_pendulum_sensitivity", "xarray"),
    ("human43_sensitivities", "scipy"),
])  # fmt: skip
def test_a_missing_library_ends_with_one_line(script, missing, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert missing in line and line.endswith(": install with `pip install '.[examples]'`")


@pytest.mark.slow
@pytest.mark.parametrize("script", ["double_pendulum_sensitivity", "human43_sensitivities"])
def test_help_names_the_folder_of_the_figures(script, monkeypatch, capsys):
    for library in ("matplotlib", "xarray", "scipy.differentiate"):
        pytest.importorskip(library)
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert f"(default: {script})" in capsys.readouterr().out


def tables(text):
    """By method: the values at the end, and the largest differences from the recursion."""
    rows = re.findall(r"^(recursive|traditional|one-sided .*?|central .*?)  +(\S.*\d)$", text, re.M)
    values, differences = {}, {}
    for name, numbers in rows:
        table = values if name not in values else differences
        table[name.strip()] = numbers.split()
    return values, {name: [float(x) for x in row] for name, row in differences.items()}


def check(done, folder):
    """What holds for any length of the motion; the values at the end."""
    assert done.returncode == 0, done.stderr
    values, differences = tables(done.stdout)
    assert set(differences) == {"traditional", "one-sided differences", "central differences"}
    assert max(differences["traditional"]) < 1e-10
    one_sided, central = (differences[f"{x} differences"] for x in ("one-sided", "central"))
    assert all(1e-7 < x < 1 for x in one_sided)
    assert all(1e-11 < y < x / 50 for x, y in zip(one_sided, central, strict=True))
    errors = re.findall(r"^  sum ([ML]) .*? (\S+) J$", done.stdout, re.M)
    assert [name for name, _ in errors] == ["M", "L"]
    assert max(float(error) for _, error in errors) < 1e-9
    assert (folder / FIGURE).stat().st_size > 50_000
    return values


@pytest.mark.deep
def test_the_example_of_the_paper(tmp_path):
    for library in ("matplotlib", "scipy", "xarray"):
        pytest.importorskip(library)
    values = check(run_script("double_pendulum_sensitivity", cwd=tmp_path), tmp_path)
    assert tuple(values["recursive"]) == AT_THE_END
    assert tuple(values["traditional"]) == AT_THE_END[1:]


@pytest.mark.deep
def test_the_sensitivities_of_the_human(tmp_path):
    """Its methods agree, and its spikes are where they must be."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy.differentiate", reason="scipy 1.15 or newer")
    done = run_script("human43_sensitivities", "--quick", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {
        name.strip(): rest.split()
        for name, rest in re.findall(
            r"^(analytic, .*?|complex step|differences, .*? steps)  +(.*)$", done.stdout, re.M
        )
    }
    errors = {name: [float(x) for x in row[:3]] for name, row in rows.items() if row[0] != "-"}
    assert max(errors["complex step"]) < 1e-12
    assert max(errors["differences, fixed steps"]) < 1e-9
    # the coordinates and accelerations are 1e-16 at t = 0.5, 1, ..., and exactly 0 at t = 0
    assert min(errors["differences, proportional steps"][::2]) > 0.01
    fixed, proportional = done.stdout.split("spikes of the differences")[1:]
    assert "none" in fixed
    instants = re.findall(r"t = (\S+)  d tau / d (\S+)", proportional)
    assert instants == [
        (t, x) for x in ("q", "qdd") for t in ("0.50", "1.00", "1.50", "2.00", "2.50", "3.00")
    ]
    for number in (4, 5, 6):
        assert (tmp_path / "human43_sensitivities" / f"figure{number}.png").stat().st_size > 10_000
    # times per instant, of arrays allocated and of arrays given; nothing in seconds of other runs
    milliseconds = {name: float(row[3]) for name, row in rows.items()}
    assert {"analytic, new arrays", "analytic, arrays re-used (out=)"} < set(milliseconds)
    ratio = float(re.search(r"^  fixed steps +(\S+)$", done.stdout, re.M)[1])
    quotient = (
        milliseconds["differences, fixed steps"] / milliseconds["analytic, arrays re-used (out=)"]
    )
    assert ratio == pytest.approx(quotient, rel=0.02)
    assert "mean of 31 instants, numpy backend" in done.stdout
    assert "0.0166" not in done.stdout
    assert "8.7e+05 / 0.055 ms per instant" in done.stdout
