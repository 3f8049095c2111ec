"""What happens around the arithmetic: checks, conversions, broadcasting, results.

Every public function of this package, whatever its backend, means what `evaluate` does.  (The
compiled backends skip it where all arguments are ordinary float64 arrays, and come here otherwise.)
This file is the same for every robot; it needs nothing but NumPy.
"""

import collections.abc
import difflib
import functools
import itertools
import math
import sys
import typing
import warnings

import numpy as np

REAL = "biuf"
COMPLEX = "biufc"
"""Kinds of numbers that a backend takes (`numpy.dtype.kind`)."""


class TorqueParts(typing.NamedTuple):
    """The joint torques in parts, (..., n) each (N m or N), which add up to inverse_dynamics.

    `inertial` is M qdd; of the velocity torques `centrifugal` has the terms in qd_k^2 and
    `coriolis` those in qd_k qd_l; `gravity` and `loads` are what holds the robot at rest;
    `joint_terms` are damping, springs and friction.
    """

    inertial: np.ndarray
    centrifugal: np.ndarray
    coriolis: np.ndarray
    gravity: np.ndarray
    loads: np.ndarray
    joint_terms: np.ndarray


class TorqueHessian(typing.NamedTuple):
    """Second derivatives of multipliers . tau, (..., n, n) each; all other blocks are 0.

    `q_qd[i, j]` is that by q_i and qd_j, and so on; `q_q` and `qd_qd` are symmetric.
    """

    q_q: np.ndarray
    q_qd: np.ndarray
    q_qdd: np.ndarray
    qd_qd: np.ndarray


class TorqueGradient(typing.NamedTuple):
    """Gradient of multipliers . tau by all that the joint torques depend on, or how that changes.

    (..., n) each; by the loads (..., n_loads, 6), by the runtime parameters (..., n_parameters).
    That by `q` is in its tangent space.
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    loads: np.ndarray
    parameters: np.ndarray


class AccelerationGradient(typing.NamedTuple):
    """The same of multipliers . qdd: see `TorqueGradient`."""

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    loads: np.ndarray
    parameters: np.ndarray


def recorded(function, record):
    """`function` with its results as the named tuple `record`; what is given as ``out`` stays."""

    @functools.wraps(function)
    def named(*arguments, **options):
        results = function(*arguments, **options)
        return results if results is options.get("out") else record._make(results)

    return named


def signature_of(text):
    """The signature of a compiled function, from what stands between its parentheses."""
    import ast
    import inspect

    kind, found = inspect.Parameter.POSITIONAL_OR_KEYWORD, []
    for word in text.split(", "):
        name, _, default = word.partition("=")
        value = ast.literal_eval(default) if default else inspect.Parameter.empty
        if name == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            found.append(inspect.Parameter(name, kind, default=value))
    return inspect.Signature(found)


class Array:
    """An argument or result: its name, the shape of one sample, and its default (None: none).

    `names` are those of its rows, with their numbers, by which a dict gives them; the rows that it
    lacks are those of `others`, by default of `default`, or 0.
    """

    def __init__(self, name, shape, default=None, names=None, others=None):
        self.name = name
        self.shape = shape
        self.names = names or {}
        self.size = math.prod(shape)
        self.default = None if default is None else constant(default).reshape(shape)
        others = default if others is None else others
        self.others = constant(np.zeros(shape) if others is None else others).reshape(shape)

    def __str__(self):
        return f"(..., {', '.join(map(str, self.shape))})" if self.shape else "(...)"


class Signature:
    """The arguments and results of one function.

    `kept` are, by output, the positions of the entries of a square array that a packed result holds
    (None: it is no packed one); what computes it fills arrays of the shapes `full`.  `hidden` are
    the pivots and the diagonal of the mass matrix, for a function that divides by the
    pivots: where one is at most `tolerance` times the diagonal entry of its row there is no
    solution.
    """

    def __init__(self, name, inputs, outputs, hidden=(), tolerance=0.0, full=(), kept=()):
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.hidden = hidden
        self.tolerance = tolerance
        self.full = full
        self.kept = kept


def constant(values):
    """A read-only float64 array."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def pattern(shape, positions):
    """A read-only array that is True at `positions`, which count row by row."""
    array = np.zeros(shape, dtype=bool)
    array.flat[list(positions)] = True
    array.flags.writeable = False
    return array


def on_one_path(joint_parents):
    """[i, j]: whether joint i stands on the path from the base to joint j, or j on that to i.

    Only there derivatives of the torque of one with respect to the other can differ from 0.  Joints
    count from 1 and come after the one that carries them; 0 is the base.
    """
    carries = np.eye(len(joint_parents), dtype=bool)
    for joint, parent in enumerate(joint_parents):
        if parent:
            carries[:, joint] |= carries[:, parent - 1]
    pattern = carries | carries.T
    pattern.flags.writeable = False
    return pattern


def positions_on_one_path(joint_parents):
    """The positions, row by row, at which `on_one_path` is True."""
    return np.flatnonzero(on_one_path(joint_parents))


def evaluate(signature, run, arguments, out, kinds=REAL, limit=4096, new=np.empty):
    """Call ``run(inputs, outputs)`` on checked and broadcast arrays, and return the results.

    `run` gets samples in blocks of at most `limit`: inputs whose batch axes broadcast to those of
    the outputs, and outputs to fill.  It returns the number of samples without a solution.
    ``new(shape, dtype)`` makes arrays for results.
    """
    given = [_ask(a, v) for a, v in zip(signature.inputs, arguments, strict=True)]
    inputs = [_read(a, v, kinds) for a, v in zip(signature.inputs, given, strict=True)]
    batch = _batch(signature, inputs)
    is_complex = any(array.dtype.kind == "c" for array in inputs)
    dtype = np.dtype(np.complex128 if is_complex else np.float64)
    wanted = _requested(signature, out)
    outputs = [
        new(batch + array.shape, dtype) if given is None else _plain(given)
        for array, given in zip(signature.outputs, wanted, strict=True)
    ]
    _check_outputs(signature, inputs, outputs, wanted, batch, dtype)
    pairs = zip(signature.inputs, inputs, strict=True)
    inputs = [_with_batch_axes(array, given, len(batch)) for array, given in pairs]
    singular = 0
    for block in _blocks(batch, limit):
        filled = [array[(*block, ...)] for array in outputs]
        singular += run([_cut(array, block) for array in inputs], filled)
    if singular:
        tell_singular(signature.name, singular, math.prod(batch), not batch)
    return _returned(outputs, wanted, out)


def tell_singular(function, singular, samples, single):
    """Say that a mass matrix was singular: for one sample an error, in a batch a warning."""
    if single:
        raise np.linalg.LinAlgError(
            f"{function}: the mass matrix is singular at this q: some motion of the joints moves "
            "no mass, or a mass is not positive, so that the torques do not determine the "
            "accelerations; if the angles of a spherical or floating joint are singular here, "
            "write 'coordinates: quaternion' in the model"
        )
    warnings.warn(
        f"{function}: the mass matrix is singular in {singular} of {samples} samples; their "
        "results are NaN",
        RuntimeWarning,
        stacklevel=_level_of_caller(),
    )


def _level_of_caller():
    """The `stacklevel` of a warning that is to name the line outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    return level


def evaluate_arithmetic(signature, kernel, arguments, out):
    """Call the NumPy function `kernel`: blocks keep its temporaries in the processor's cache.

    Functions in loops say how many numbers of one sample they keep; others keep what they name.
    """
    taken = [array.default is None or array.default.size > 0 for array in signature.inputs]
    numbers = getattr(kernel, "numbers", kernel.__code__.co_nlocals + 1)
    limit = min(4096, max(64, 2**21 // numbers))

    def run(inputs, outputs):
        given = [array for array, take in zip(inputs, taken, strict=True) if take]
        if signature.full:
            _compute_packed(signature, kernel, given, outputs)
            return 0
        if not signature.hidden:
            kernel(*given, *outputs)
            return 0
        batch = outputs[0].shape[: outputs[0].ndim - len(signature.outputs[0].shape)]
        hidden = [np.empty(batch + array.shape, outputs[0].dtype) for array in signature.hidden]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            kernel(*given, *outputs, *hidden)
        return _without_solution(*hidden, signature.tolerance, outputs)

    return evaluate(signature, run, arguments, out, kinds=COMPLEX, limit=limit)


def _compute_packed(signature, kernel, given, outputs):
    """Compute square arrays, and keep of them what can differ from 0."""
    batch = outputs[0].shape[: outputs[0].ndim - len(signature.outputs[0].shape)]
    full = [np.empty(batch + shape, outputs[0].dtype) for shape in signature.full]
    kernel(*given, *full)
    for array, values, kept in zip(outputs, full, signature.kept, strict=True):
        if kept is not None:
            values = values.reshape(*batch, values.shape[-2] * values.shape[-1])[..., kept]
        array[...] = values


def _without_solution(pivots, diagonal, tolerance, outputs):
    """Fill the results of samples without a solution with NaN, and count these samples."""
    singular = np.any(pivots.real <= tolerance * diagonal.real, axis=-1)
    for array in outputs:
        array[singular] = np.nan
    return int(np.count_nonzero(singular))


def evaluate_rows(signature, rows, arguments, out, new):
    """Call the compiled `rows`, which takes C-contiguous arrays with at most one batch axis."""

    def run(inputs, outputs):
        batch = outputs[0].shape[: outputs[0].ndim - len(signature.outputs[0].shape)]
        pairs = zip(signature.inputs, inputs, strict=True)
        samples = [_samples(array, given, batch) for array, given in pairs]
        filled = [np.require(array, requirements="CA") for array in outputs]
        pairs = zip(signature.outputs, filled, strict=True)
        flat = [values.reshape(math.prod(batch), *array.shape) for array, values in pairs]
        singular = rows(samples, flat)
        for array, values in zip(outputs, filled, strict=True):
            if values is not array:
                array[...] = values
        return singular

    return evaluate(signature, run, arguments, out, new=new)


def _samples(array, given, batch):
    """`given` with one batch axis or, where all samples are the same, with none."""
    count = math.prod(batch)
    if count != 1 and given.size == math.prod(array.shape) > 0:
        given = given.reshape(array.shape)
    else:
        given = np.broadcast_to(given, batch + array.shape).reshape(count, *array.shape)
    return np.require(given, requirements="CA")


def _ask(array, value):
    """The argument `value` as an array of any kind.

    An object that is no array is asked for one and may do anything meanwhile, also to arrays: so
    all are asked before any is checked.
    """
    if value is None and array.default is not None:
        return array.default
    if isinstance(value, collections.abc.Mapping) and (array.names or array.default is not None):
        return _ask_by_name(array, value)
    if getattr(value, "keeps_class", False):  # a class with other arithmetic, in validation
        return value
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{array.name}: expected an array of shape {array}: {error}") from None


def _ask_by_name(array, rows):
    """The rows that a dict gives by name, batch axes in front; the others as in `others`."""
    given = {}
    kind = array.name.removeprefix("d")  # a direction has rows of the same names
    kind = kind if kind in UNKNOWN else "state"
    for name, value in rows.items():
        place = position(kind, name, array.names)
        row = Array(f"{array.name}[{name!r}]", array.shape[1:])
        given[place] = _read(row, _ask(row, value), COMPLEX)
    axes = len(array.shape) - 1
    values = list(given.values())
    batch = np.broadcast_shapes(*(row.shape[: row.ndim - axes] for row in values))
    dtype = np.result_type(np.float64, *values)
    whole = np.broadcast_to(array.others, batch + array.shape).astype(dtype)
    for place, row in given.items():
        whole[(..., place, *(slice(None),) * axes)] = row
    return whole


UNKNOWN = {
    "link": "unknown link {!r}",
    "loads": "unknown load {!r}",
    "parameters": "{!r} is not a runtime parameter of this module",
    "state": "{!r} is no coordinate",
}
REMEDIES = {
    "link": "",
    "state": "",
    "loads": "; --load LINK adds one when the module is built",
    "parameters": "; one of the model file becomes one with --runtime-parameters {}",
}


class StateReader:
    """``read(name, value)``: an argument, as an array where it is given as a dict by name.

    `states` are the arrays of positions, ``q``, of velocities, ``qd``, and of ``loads``.
    """

    def __init__(self, states):
        self._kinds = dict.fromkeys(("q", "q0", "q1"), states["q"])
        self._kinds |= dict.fromkeys(("qd", "qd0", "qdd", "tau", "v"), states["qd"])
        self._kinds["loads"] = states["loads"]

    def __call__(self, name, value):
        is_by_name = name in self._kinds and isinstance(value, collections.abc.Mapping)
        return _ask(self._kinds[name], value) if is_by_name else value


def position(kind, name, names, joints=None):
    """The number of `name` in `names`; ValueError says what there is, or how to get it.

    `joints` maps those of the model to their links: a user may have meant one of these.
    """
    if kind == "link" and isinstance(name, np.ndarray | list | tuple):
        raise TypeError(f"name: expected the name of a link, the first argument, got {_kind(name)}")
    if isinstance(name, str) and name in names:
        return names[name]
    if isinstance(name, str) and name in (joints or {}):
        raise ValueError(f"{name!r} is a joint; its link is {joints[name]!r}")
    near = difflib.get_close_matches(str(name), names, 1)
    if near:
        hint = f"; did you mean {near[0]!r}?"
    else:
        there = f"; there are {', '.join(names)}" if names else "; there are none"
        hint = there + REMEDIES[kind].format(",".join([*names, str(name)]))
    raise ValueError(UNKNOWN[kind].format(name) + hint)


def number_of_link(name, links, joints):
    """The number of a link by its name in the module or the file, a float as kernels take it."""
    number = links.get(name) if type(name) is str else None
    if number is None:
        return float(position("link", name, {x: k for x, k in links.items() if k >= 0}, joints))
    if number < -1:
        raise ValueError(
            f"{name!r} is a point of the model, no link: point_motion(q, qd, qdd) has its position"
        )
    if number < 0:
        raise ValueError(f"{name!r} is the fixed frame, no link: its pose is I, its Jacobian 0")
    return number


def _read(array, given, kinds):
    """The argument `given` as a float64 (or complex128) array of the right shape."""
    if given.dtype.kind not in kinds:
        hint = "; the NumPy backend takes complex numbers" if given.dtype.kind == "c" else ""
        raise TypeError(f"{array.name}: expected real numbers, got {given.dtype}{hint}")
    batch_axes = given.ndim - len(array.shape)
    if batch_axes < 0 or given.shape[batch_axes:] != array.shape:
        hint = ""
        if array.name == "parameters" and array.shape == (0,):
            hint = "; this module has none (symgen build --runtime-parameters makes one that has)"
        elif array.name == "loads" and given.shape == (6,):
            hint = "; a load is a row of loads: is [loads] meant?"
        elif given.ndim > 1 and given.T.shape[batch_axes:] == array.shape:
            hint = f"; samples are rows: is {array.name}.T meant?"
        raise ValueError(f"{array.name}: expected shape {array}, got {given.shape}{hint}")
    return given.astype(np.complex128 if given.dtype.kind == "c" else np.float64, copy=False)


def _batch(signature, inputs):
    """The batch axes of all inputs, broadcast mutually (beyond 32 axes NumPy does not say)."""
    axes = [
        given.shape[: given.ndim - len(array.shape)]
        for array, given in zip(signature.inputs, inputs, strict=True)
    ]
    different = set(axes) - {()}
    if len(different) <= 1:
        return different.pop() if different else ()
    batch = []
    for lengths in itertools.zip_longest(*map(reversed, different), fillvalue=1):
        longer = {length for length in lengths if length != 1}
        if len(longer) > 1:
            pairs = zip(signature.inputs, axes, strict=True)
            names = ", ".join(f"{array.name} {shape}" for array, shape in pairs if shape)
            raise ValueError(f"{signature.name}: batch axes do not broadcast: {names}")
        batch.append(longer.pop() if longer else 1)
    return tuple(reversed(batch))


def _requested(signature, out):
    """The outputs that the caller gave, None for the others."""
    number = len(signature.outputs)
    if number == 1:
        return [out]
    if out is None:
        return [None] * number
    if not isinstance(out, tuple):
        raise TypeError(f"out: expected a tuple of {number} arrays or None, got {_kind(out)}")
    if len(out) != number:
        raise ValueError(f"out: expected a tuple of {number} entries, got {len(out)}")
    return list(out)


def _plain(given):
    """An array without what its subclass, as a memory map or a matrix, adds; else `given`."""
    return np.asarray(given) if isinstance(given, np.ndarray) else given


def _check_outputs(signature, inputs, outputs, wanted, batch, dtype):
    """Arrays given by the caller are what their results need, and share no memory."""
    for number, (array, given) in enumerate(zip(signature.outputs, outputs, strict=True)):
        if wanted[number] is None:
            continue
        name = "out" if len(wanted) == 1 else f"out[{number}] ({array.name})"
        if not isinstance(given, np.ndarray):
            raise TypeError(f"{name}: expected a NumPy array, got {_kind(given)}")
        if given.dtype != dtype:
            raise TypeError(f"{name}: expected dtype {dtype}, got {given.dtype}")
        if given.shape != batch + array.shape:
            raise ValueError(f"{name}: expected shape {batch + array.shape}, got {given.shape}")
        if not given.flags.writeable:
            raise ValueError(f"{name}: expected a writable array, got a read-only one")
        if _overlaps_itself(given):
            raise ValueError(f"{name}: its entries overlap each other")
        for other, value in zip(signature.inputs, inputs, strict=True):
            if _overlap(given, value):
                raise ValueError(f"{name}: overlaps the argument {other.name}")
        for earlier in range(number):
            if _overlap(given, outputs[earlier]):
                raise ValueError(f"{name}: overlaps out[{earlier}]")


def _overlaps_itself(array):
    """Whether two entries may share memory: each axis must step over all that lie inside it."""
    if not array.size:
        return False
    inside = array.itemsize
    axes = ((abs(step), n) for step, n in zip(array.strides, array.shape, strict=True) if n > 1)
    for step, length in sorted(axes):
        if step < inside:
            return True
        inside = step * (length - 1) + inside
    return False


def _overlap(first, second):
    try:
        return np.shares_memory(first, second, max_work=100_000)
    except np.exceptions.TooHardError:
        return True


def _kind(value):
    return type(value).__name__


def _with_batch_axes(array, given, number):
    """`given` with as many batch axes as the result has."""
    missing = number - (given.ndim - len(array.shape))
    return given.reshape((1,) * missing + given.shape)


def _blocks(batch, limit):
    """Slices that cut the batch axes into blocks of at most `limit` samples."""
    pending = [tuple((0, length) for length in batch)]
    while pending:
        ranges = pending.pop()
        lengths = [stop - start for start, stop in ranges]
        samples = math.prod(lengths)
        if samples <= limit:
            yield tuple(slice(start, stop) for start, stop in ranges)
            continue
        axis = lengths.index(max(lengths))
        start, stop = ranges[axis]
        step = max(1, limit * lengths[axis] // samples)
        parts = [(low, min(low + step, stop)) for low in range(start, stop, step)]
        pending.extend((*ranges[:axis], part, *ranges[axis + 1 :]) for part in reversed(parts))


def _cut(array, block):
    """The part of `array` that belongs to `block`; axes that are broadcast stay whole."""
    lengths = array.shape[: len(block)]
    parts = zip(lengths, block, strict=True)
    return array[tuple(slice(None) if length == 1 else part for length, part in parts)]


def _returned(outputs, wanted, out):
    """What the caller gets: what he gave, the rest allocated, and a number for a single scalar."""
    if out is not None and all(given is not None for given in wanted):
        return out
    results = tuple(
        given if given is not None else array if array.ndim else array[()]
        for array, given in zip(outputs, wanted, strict=True)
    )
    return results if len(results) > 1 else results[0]
