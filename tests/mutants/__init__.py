"""Seeded mutants: what the tests find, measured.

A mutant is one plausible fault (a sign, an index, a forgotten case) at one place of `symgen` or its
templates.  The tables `*.toml` beside this file hold them: the `file`, the fragment that `was`
there (it stands exactly once there), what is there `now`, and the `fault` in words.

    python -m tests.mutants.run CHECKOUT [CHECKOUT ...] --out results.json

plants one after the other in checkouts made for this (a clone in which ``make test`` was run, so
that it has a virtual environment of its own; several checkouts work at once), runs the ordinary
tests that most likely find it until one fails, and takes the fault out again.  What these do not
find is planted again, many at once, all tests that reach one of them are run, and each is tried
alone with those that failed.  Which test files reach which mutant is measured first, in one run of
all tests (`reach`).  The order is shuffled with a fixed seed, so that what is done of it at any
time is a fair sample; a run that was ended goes on where it was.

`sources` and `templates` were made by syntax and by hand, `front` by hand."""
