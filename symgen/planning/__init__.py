"""Optimal motions of generated modules, as nonlinear programs with exact derivatives.

    splines     ->  Profile, Local      motions as B-splines
    quantities  ->  Quantity            the generated module at all instants, batched
    terms       ->  Term                parts of a nonlinear program
    samples     ->  Sampled             those that are quantities at instants
    problem     ->  Problem             the terms together
    solver      ->  Outcome             IPOPT, told of by callbacks

There is no reader of task files and no command yet; `tests/planning` shows how a problem is put
together.
"""
