"""`symgen plan`: optimal motions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symgen.command.options import Model, additions, output_options
from symgen.command.outcome import Output

if TYPE_CHECKING:
    from symgen.options import ReadOptions
    from symgen.planning.results import Plan
    from symgen.planning.solver import Step
    from symgen.support.journal import Journal

NOT_SOLVED = 3
"""Exit status where no motion keeps the limits, as after a failed validation."""


@click.command(short_help="Find the optimal motion of MODEL for TASK.")
@Model
@click.argument("task", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", "outputs", multiple=True, type=click.Path(path_type=Path),
    help="File to write, by its ending: .html (a page), .png .svg .pdf (a figure), .csv .npz "
    "(samples), .yaml (a ROS JointTrajectory).  May be given several times.",
)  # fmt: skip
@click.option(
    "--starts", type=click.IntRange(1, 1000),
    help="Motions to start from: the straight one and random ones; the best result is kept.  "
    "Default: 1, around obstacles 5.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True,
    help="Seed of the random motions.",
)  # fmt: skip
@click.option(
    "--solver", type=click.Choice(("ipopt", "trust-constr")),
    help="IPOPT, which comes with CasADi (default where that is installed), or SciPy's "
    "trust-constr.",
)  # fmt: skip
@click.option(
    "--limited-memory", is_flag=True,
    help="Approximate second derivatives from gradients (L-BFGS, by IPOPT) instead of computing "
    "them.",
)  # fmt: skip
@click.option(
    "--max-iterations", type=click.IntRange(1), default=1000, show_default=True,
    help="Iterations of the solver, for each solution.",
)  # fmt: skip
@additions
@output_options
def plan(
    model: Path, task: Path, outputs: tuple[Path, ...], starts: int | None, seed: int,
    solver: str | None, limited_memory: bool, max_iterations: int, loads: tuple[str, ...],
    added_points: tuple[str, ...], reading: ReadOptions, output: Output,
) -> None:  # fmt: skip
    """Find the motion of MODEL that TASK asks for, and make its objective as small as possible.

    A task to start from: symgen new --task task.yaml.  Ctrl-C ends the search with the best motion
    so far.  Exit status 3: no motion was found that keeps the limits.
    """
    from symgen.options import BuildOptions
    from symgen.planning.plan import built
    from symgen.planning.plan import plan as find
    from symgen.planning.results import EXCEEDED, check_outputs
    from symgen.planning.solver import ready
    from symgen.planning.task import REFINE

    solver = ready(solver, exact_hessian=not limited_memory)
    check_outputs(outputs, (model, task))
    options = BuildOptions(loads=loads, points=added_points, reading=reading)
    with output.journal() as journal:
        result = find(
            built(model, task, options, journal), task, starts=starts, seed=seed, solver=solver,
            exact_hessian=not limited_memory, max_iterations=max_iterations,
            progress=_progress(journal), notify=partial(journal.notice, at_once=True),
        )  # fmt: skip
        for k, path in enumerate(outputs):
            journal.progress(f"write: {path.name}", k, len(outputs))
            if not result.withheld(path):
                result.write(path)
    withheld = {path: words for path in outputs if (words := result.withheld(path))}
    remarks = [*result.remarks, *(f"{path} is not written: {withheld[path]}" for path in withheld)]
    written = [path for path in outputs if path not in withheld]
    notices = [*dict.fromkeys([*journal.notices, *remarks])]
    data = {**result.scalars(), "notices": notices, "files": [str(path) for path in written]}
    unsaid = [remark for remark in remarks if remark not in journal.shown]
    output.write(lambda: data, lambda: _print(result, unsaid, written))
    everywhere = result.task.profile.check == REFINE
    if result.status == "infeasible" or (result.status == EXCEEDED and everywhere):
        if output.quiet and not output.as_json:
            click.echo(f"{result.status}: {'; '.join(remarks)}", err=True)
        raise click.exceptions.Exit(NOT_SOLVED)


def _progress(journal: Journal) -> Callable[[str, Step], None]:
    def tell(stage: str, step: Step) -> None:
        words = f"{stage}: objective {step.objective:.6g}, violation {step.violation:.1e}"
        journal.progress(words, step.number, 0)

    return tell


def _print(result: Plan, remarks: Sequence[str], written: Sequence[Path]) -> None:
    most = f"limits are exceeded by {result.violation:.1e} at most"
    rows = [
        (result.status, result.outcome),
        (
            "took",
            f"{result.seconds:.2g} s ({result.iterations} iterations, {result.evaluations} "
            f"evaluations; solver {result.solver_seconds:.2g} s)",
        ),
        ("verified", f"{most if result.violation else 'no limit is exceeded'}; {result.simulated}"),
    ]
    if result.status == "infeasible":  # the remarks name what is not met
        rows.pop()
    elif result.clearance:
        rows.append(("nearest", result.clearance))
    if len(result.stages) > 1:
        spans = (f"{stage}: {k} to {last}" for stage, (k, last) in result.stages.items())
        rows.insert(2, ("iterations", "; ".join(spans)))
    for start in result.others:
        reached = f", {start.T:.6g} s, objective {start.objective:.6g}"
        rows.append((f"start {start.number}", start.ended + ("" if start.violation else reached)))
    for name, text in rows:
        click.echo(f"{name:<10} {text}")
    for remark in remarks:
        click.echo(f"note: {remark}", err=True)
    for path in written:
        click.echo(f"wrote {path}")
