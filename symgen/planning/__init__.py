"""Optimal motions of generated modules, as nonlinear programs with exact first derivatives.

    task, values    ->  Task            the data of a task file, and its values with their faults
    quantities      ->  Quantity        the generated module at all instants, batched
    problem         ->  Problem         terms: rows of constraints, parts of the objective
    samples         ->  Sampled         terms of quantities at instants of a motion
    splines, charts ->  Profile, Chart  motions as B-splines, attitudes in three coordinates
    solver          ->  Outcome         IPOPT or trust-constr

A key of task files with its reading, its quantity and its terms is one module: `angles`, `cuts`,
`loads`, `mirroring`, `obstacles`, `poses`; `loops` makes a tree of a mechanism.  From a task to a
plan:

    reading         task file, dict     ->  Task, checked against the robot (`checks`, `attitudes`)
    starting        Task                ->  unknowns to start from
    transcription   Task                ->  Problem of splines, by inverse dynamics
    collocation     Task                ->  Problem of nodes, by forward dynamics
    trajectories    unknowns            ->  states and torques at any instant
    verification    trajectory          ->  limits on a fine grid, forward simulation
    plan            robot, task         ->  Plan (`results`, with its files and figures)
"""

from symgen.planning.ground import GroundReaction, ground_reaction

__all__ = ["GroundReaction", "ground_reaction"]
