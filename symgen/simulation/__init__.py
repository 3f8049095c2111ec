"""Simulation of a generated module, with sensitivities: `symgen.simulate`.

    arguments      ->  Columns, checked arrays        the arguments of `simulate`
    inputs         ->  Torques, Loads, Prescribed     functions of the user
    accelerations  ->  Method                         the functions of the module that are called
    motion         ->  RobotState                         one instant; the differential equation
    integration    ->  the vector at all times        the integrator and its options
    results        ->  xarray.Dataset

It needs only a generated module, not a model.  The equations are those of Anderson and Hsu (2002):
the state and its sensitivities are integrated together, eqs. (4) and (5), with the integrals of
objectives (1) and their gradients (2).  Steps keep the tolerances for all of them.

Derivation          name in code      shape                meaning
P                   parameters        (n_parameters,)      runtime parameters of the module
dq/dP, dqdot/dP     dq, dqd           (time, n, s)         sensitivities of the state
J                   objectives                             outputs of the model, at the end or
                                                           integrated
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from symgen.errors import RequestError
from symgen.runtime.configuration import configuration_of
from symgen.simulation.accelerations import has_constraints, method_of
from symgen.simulation.arguments import (
    Derivatives,
    Listener,
    checked_progress,
    columns,
    meant,
    parameter_values,
    prescribed_coordinates,
    refuse_natural_default,
    start_state,
    times,
)
from symgen.simulation.equilibrium import Equilibrium
from symgen.simulation.fixed_steps import checked_scheme, integrate_in_steps
from symgen.simulation.inputs import Input, Loads, Prescribed, Slopes, Torques
from symgen.simulation.integration import checked_solver, integrate
from symgen.simulation.mechanisms import (
    closed_sensitivities,
    closed_start,
    held_at_start,
    missing_functions,
    refuse_missing,
    start_names,
)
from symgen.simulation.motion import RobotState, objectives_of
from symgen.simulation.results import attributes, dataset, sample
from symgen.toolchain.loading import checked_module

if TYPE_CHECKING:
    import xarray


def simulate(
    module: Any,
    q0: ArrayLike | Mapping[str, ArrayLike] | Equilibrium | None = None,
    qd0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    t: ArrayLike = (),
    *,
    tau: Input = None,
    loads: Input = None,
    parameters: Mapping[str, float] | ArrayLike | None = None,
    prescribed: Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]] | None = None,
    sensitivities: str | Iterable[str] = (),
    dq0: Derivatives = None,
    dqd0: Derivatives = None,
    tau_derivatives: Slopes = None,
    objectives: str | Iterable[str] = (),
    formulation: str | None = None,
    step: float | None = None,
    penalty: float | None = None,
    projection: str | ArrayLike | None = None,
    projections: int | None = None,
    method: str = "auto",
    rtol: float = 1e-10,
    atol: float = 1e-10,
    first_step: float | None = None,
    max_step: float = np.inf,
    progress: Listener | None = None,
    **unknown: object,
) -> xarray.Dataset:
    """Integrate the motion of a robot and, where asked, its derivatives by parameters.

    Arguments (n coordinates, s sensitivities, p of these by runtime parameters; a plain number
    serves where one entry is expected):
        module        a generated module, from `symgen.load` or imported
        q0, qd0       (n,), or dicts by name: coordinates (rad or m) and velocities at the start;
                      entries of prescribed coordinates are not read.  With quaternions q0 is
                      (nq,); they are normalized, and so are those of the results.  q0 may be a
                      result of `symgen.equilibrium`, whose derivatives are dq0 by default.
                      Default: `initial` of the model file, of mechanisms by `assemble()` and
                      `closed_velocities`; without it `neutral()`, at rest.  With q0, qd0 is 0
                      by default
        t             (m,): times of the results (s), two or more, increasing; the first is the
                      start
        tau           (n,) joint torques (N m or N), or a dict by name, or a function of (t, q, qd)
                      that returns one of these; default: 0.  Entries of prescribed coordinates
                      are not read
        loads         (n_loads, 6) [fx fy fz nx ny nz], base axes, or a dict by name, or a function
                      of (t, q, qd) that returns one of these; default: 0.  With sensitivities it
                      must not depend on q and qd
        parameters    {name: value} or (n_parameters,): runtime parameters; default: the module's
        prescribed    function of t: (q, qd, qdd) of the prescribed coordinates, in their order; qd
                      and qdd must be the derivatives of q in time.  A joint with a quaternion has
                      all of its entries in q, of any norm, and velocities in the axes of its link
        sensitivities names of runtime parameters, or "all"; ``q0.NAME`` and ``qd0.NAME`` are the
                      initial values of the coordinate NAME
        dq0, dqd0     {parameter: (n,)} or (n, p): how the initial values vary with the parameters;
                      default: not at all; with loops, as the start that is closed, with what
                      `assemble` and `closed_velocities` hold
        tau_derivatives
                      function of (t, q, qd): (dtau_dq, dtau_dqd), each (n, n), and if tau depends
                      on the parameters too, dtau_dparameters (n, p); default: complex step
                      through tau
        objectives    names of outputs of the model, or "all", whose integrals and values at the
                      end are computed
        formulation   name of the sub-module that gives accelerations; default: the fastest
        step          of mechanisms with loops or relations: integrate by ALI3-P (Lopez Varela,
                      Dopico and Luaces 2023) in steps of at most this size (s) that meet all times
                      in t; rtol, atol and other options of adaptive steps are ignored then, and
                      these apply:
        penalty       of constraints that are violated; default: 1e9
        projection    "mass" (the default), "tangent", or a symmetric matrix (n, n): the norm of
                      the projections of velocities and accelerations
        projections   number of times that their multipliers are computed; default: 1
        method        of `scipy.integrate.solve_ivp`, as are the tolerances rtol > 0 and atol >= 0
                      (numbers) of everything that is integrated, first_step and max_step (s).
                      Default: "auto", DOP853 until the motion becomes stiff (friction near rest
                      makes it so), and Radau from that state on; an explicit method by name
                      stays, and a RuntimeWarning says that the motion is stiff
        progress      function of (t, end), called now and then with the time reached, and at the
                      end; its exceptions end the simulation, as Ctrl-C does

    Returns an `xarray.Dataset`:
        q, qd, qdd, tau         (time, coordinate); tau of prescribed coordinates is the torque
                                that moves them.  With quaternions q is (time, position), and dq is
                                in the tangent space
        multipliers, loop_wrenches, violation
                                of mechanisms with loops: (time, constraint), (time, loop,
                                component), and the largest constraint (time).  q0 and qd0 are
                                moved to where the loops are closed, with a RuntimeWarning, and
                                dq0 and dqd0 such that they stay closed
        velocity_multipliers, acceleration_multipliers
                                (time, constraint), with step: those of the projections, sigma and
                                kappa in the paper, whose lambda is multipliers less kappa (less
                                nothing where the projection is a matrix); with sensitivities their
                                derivatives, as dmultipliers and so on (time, constraint, parameter)
        dq, dqd, dqdd, dtau     (time, coordinate, parameter), with sensitivities: total derivatives
        outputs                 (time, output), and these if there are objectives:
        outputs_gradient        (time, output, parameter), total derivatives
        end, integral           (objective)
        end_gradient, integral_gradient   (objective, parameter)
        attributes              robot, formulation (of the accelerations; several are separated by
                                commas), method (several, in order, are separated by commas),
                                rtol, atol, evaluations, and stiff_from (s) where it is stiff

    All of it is finite, except outputs that are no objectives.  Joint limits are no stops: a
    RuntimeWarning names those that the motion leaves, and at mechanisms the times at which it
    passes singular positions.

    Raises `symgen.errors.RequestError` for wrong arguments, functions that were not built, a
    singular mass matrix, a motion that is not finite, or a failure of the integrator.
    """
    library, xarray = _libraries()
    _refuse(unknown)
    checked_module(module, "simulate")
    instants = times(t)
    solver = checked_solver(method, rtol, atol, first_step, max_step, instants)
    listener = checked_progress(progress, instants[0], instants[-1])
    scheme = checked_scheme(module, step, penalty, projection, projections)
    held, space = prescribed_coordinates(module), configuration_of(module)
    wanted = columns(module, sensitivities, dq0, dqd0, ~held)
    if has_constraints(module):
        refuse_missing(module, missing_functions(module, wanted, scheme is not None))
    motion = RobotState(
        method_of(module, formulation, wanted, held), held,
        Torques(tau, tau_derivatives, module, wanted),
        Loads("loads", loads, (module.n_loads, 6), module),
        Prescribed(prescribed, module, held), parameter_values(module, parameters), wanted,
        objectives_of(module, objectives, wanted), space, listener,
    )  # fmt: skip
    values = motion.options["parameters"]
    chosen = start_names(module, q0, qd0) if has_constraints(module) else []
    follows = dq0 is None and dqd0 is None and not isinstance(q0, Equilibrium)
    if isinstance(q0, Equilibrium):
        q0 = q0.start_of_motion(values, wanted if dq0 is None else None)
    if q0 is None:
        refuse_natural_default(module, values, len(wanted) > 0)
    initial = start_state(module, space, q0, qd0)
    motion.torques.warn_of_undriven(instants[0], *initial)
    if has_constraints(module):
        initial = closed_start(module, *initial, instants[0], values, chosen, q0)
        if len(wanted):
            stays = held_at_start(module, q0) if follows else ([], [])
            closed_sensitivities(module, *initial, instants[0], values, wanted, stays)
    if scheme is not None:
        rows, integrals, steps = integrate_in_steps(module, scheme, instants, initial, motion)
        listener.finish()
        facts = {"robot": module.name, "method": "ALI3-P", "step": scheme.step, "steps": steps}
        return dataset(xarray, module, instants, rows, integrals, motion, facts)
    start = motion.start(instants, *initial)
    integration = integrate(library, motion, instants, start, solver)
    rows = sample(motion, instants, integration.vectors)
    listener.finish()
    facts = attributes(module, motion, solver, integration)
    return dataset(xarray, module, instants, rows, integration.vectors[-1], motion, facts)


def _refuse(unknown: Mapping[str, object]) -> None:
    """Raise `RequestError` for keywords that are no options."""
    options = [
        x.name for x in inspect.signature(simulate).parameters.values() if x.kind is x.KEYWORD_ONLY
    ]
    for name in unknown:
        raise RequestError(f"simulate() has no option {name!r}{meant(name, options)}")


def _libraries() -> tuple[Any, Any]:
    """Return `scipy.integrate` and xarray; RequestError where one is not installed."""
    try:
        import xarray
        from scipy import integrate as library
    except ImportError as error:
        message = f"simulate needs SciPy and xarray ({error}): pip install 'symgen[simulate]'"
        raise RequestError(message) from None
    return library, xarray
