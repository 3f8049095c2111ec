"""Code that generated packages and symgen itself call at run time.

Every package has a verbatim copy of these files in its folder ``_symgen`` (those of mechanisms only
where the robot has loops).  So they import only NumPy and each other, by relative names.

    configuration        motion on the configuration space of a robot
    closure, mechanism   mechanisms with closed loops
    elsewhere            names of the functions in other libraries
    checks               the checks of ``selftest`` and of the validation of a build, which consist
                         of laws (`derivative_laws`, `forward_laws`, `motion_laws`, `joint_terms`),
                         comparisons and limits
    calls                arguments and results of functions, written by ``python -m
                         manual.robot_type``
"""
