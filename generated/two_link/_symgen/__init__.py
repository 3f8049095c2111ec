"""What generated packages need at run time, and symgen needs, too.

Every package has a copy of these files as they are, in its folder ``_symgen`` (those of mechanisms
only where it is one).  So they import NumPy and each other alone, by relative names.

    configuration        motion on the configuration space of a robot
    closure, mechanism   mechanisms with closed loops
    elsewhere            names of the functions in other libraries
    checks               the checks of ``selftest`` and of the validation of a build, which consist
                         of laws (`derivative_laws`, `forward_laws`, `motion_laws`, `joint_terms`),
                         comparisons and limits
    calls                arguments and results of functions, written by ``python -m
                         manual.robot_type``
"""
