"""Optimal motions of generated modules, as nonlinear programs with exact first derivatives.

    splines     ->  Profile, Local      motions as B-splines
    quantities  ->  Quantity            the generated module at all instants, batched
    terms       ->  Term                parts of a nonlinear program
    samples     ->  Sampled             those that are quantities at instants
    problem     ->  Problem             the terms together
    solver      ->  Outcome             by `ipopt` or `trust_constr`, of a `program`

and, around these:

    reading         task file, dict     ->  Task, checked against the robot (with `values`,
                                            `load_reading`, `obstacle_reading`)
    starting        Task                ->  unknowns to start from
    transcription   Task                ->  Problem
    collocation     Task                ->  a program by forward dynamics, Nodes
    verification    motion              ->  limits on a fine grid, forward simulation
    plan            robot, task         ->  Plan (`results`, `writing`, `files`, `figures`)
"""
