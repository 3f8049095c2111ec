"""The contract of every formulation: each function of each robot here has these values.

`robots/` are a dozen models that together have every kind of joint, frame, load, spring, force,
loop, relation, coordinate and runtime parameter.  `reference/` has, for each, two states and the
results of every function there, computed by `tests.contract.references`, which shares no code with
the formulations.  `operations.txt` has the operations of every program, straight and in loops.

    python -m tests.contract.remake

writes both again; what changes is read as a diff."""
