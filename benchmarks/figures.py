"""The figures of a comparison: how to look them up, and their titles."""

from benchmarks.interface import CALL, KERNEL, LARGE, NEW, SMALL

OURS = "symgen_modules"
TITLES = {KERNEL: "C", CALL: "Python", NEW: "Python, new arrays", SMALL: "64 rows",
          LARGE: "10,000 rows"}  # fmt: skip
FUNCTION_TITLES = {
    "inverse_dynamics": "inverse dynamics",
    "inverse_dynamics_derivatives": "its derivatives and M",
    "mass_matrix": "mass matrix",
    "forward_dynamics": "forward dynamics",
    "forward_dynamics_derivatives": "its derivatives and 1/M",
}
MODEL_TITLES = {
    "two_link": "2R",
    "puma560": "PUMA 560",
    "arm7": "7R",
    "arm24": "24R",
    "chain7": "general 7R",
    "chain24": "general 24R",
    "human43": "human, 43",
    "quadruped": "quadruped, 18",
    "humanoid": "humanoid, 37",
    "tree43": "tree, 43",
}


def figure_of(data, model, function, name, mode):
    """The row of one measurement, or None."""
    key = {"model": model, "function": function, "contestant": name, "mode": mode}
    return next((row for row in data["figures"] if key.items() <= row.items()), None)
