"""The figures of a comparison: how to look them up, their titles, and goals."""

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
    "tree43": "tree, 43",
}
GOALS = {
    "inverse_dynamics": {KERNEL: (9, 9, 8), SMALL: (40, 35, 30)},
    "inverse_dynamics_derivatives": {KERNEL: (10, 10, 8), SMALL: (40, 15, 12)},
    "mass_matrix": {KERNEL: (6, 3, 4), SMALL: (30, 12, 12)},
    "forward_dynamics": {KERNEL: (7, 6, 6), SMALL: (40, 30, 30)},
    "forward_dynamics_derivatives": {KERNEL: (5, 4, 4), SMALL: (20, 8, 8)},
}
"""How many times faster than Pinocchio C++ symgen wants to be, for the models of `GOAL_MODELS`."""

GOAL_MODELS = ("arm7", "arm24", "human43")


def goal(model, function, mode):
    """What symgen wants to reach, or None."""
    if model not in GOAL_MODELS:
        return None
    numbers = GOALS[function].get(mode)
    return numbers[GOAL_MODELS.index(model)] if numbers else None


def figure_of(data, model, function, name, mode):
    """The row of one measurement, or None."""
    key = {"model": model, "function": function, "contestant": name, "mode": mode}
    return next((row for row in data["figures"] if key.items() <= row.items()), None)
