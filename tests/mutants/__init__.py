"""Seeded mutants: what the tests find, measured.

A mutant is one plausible fault (a sign, an index, a forgotten case) at one place of `symgen` or its
templates.  The tables `*.toml` beside this file hold them: the `file`, the fragment that `was`
there (it stands exactly once there), what is there `now`, and the `fault` in words.

    python -m tests.mutants.run CHECKOUT [CHECKOUT ...] --out results.json

plants one after the other in checkouts made for this (a clone in which ``make test`` was run, so
that it has a virtual environment of its own; several checkouts work at once), runs the ordinary
tests that reach it until one fails, and takes the fault out again.  Which test files reach which
mutant is measured first, in one run of all tests (`reach`).  `survivors.txt` lists those that no
ordinary test found.
"""
