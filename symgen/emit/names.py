"""Identifiers of generated source, made from names of the model.

All backends share one set of reserved words, so that a variable has the same name in C, Cython
and NumPy.  The words are written out, because the generated source must not depend on the version
of Python that runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from symgen.optimize.ordering import Assignment, Schedule

WORKSPACE = "w"
"""The array that passes temporaries between the parts of a long kernel."""

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_C = """
    alignas alignof asm auto bool break case catch char class const const_cast constexpr continue
    decltype default delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept nullptr operator private
    protected public register reinterpret_cast restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while
    linux unix i386
"""
_MATH_H = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10
    exp2 expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isfinite
    isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isunordered
    j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
    nextafter nexttoward pow pow10 remainder remquo rint round scalb scalbln scalbn significand
    sign signbit signgam sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
    double_t float_t math_errhandling
    DOMAIN FP_FAST_FMA FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO
    HUGE HUGE_VAL HUGE_VALF HUGE_VALL INFINITY MATH_ERREXCEPT MATH_ERRNO MAXFLOAT M_1_PI M_2_PI
    M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 NAN NULL
    OVERFLOW PLOSS SING TLOSS UNDERFLOW X_TLOSS
"""
_REAL_H = """
    real truth lanes bits angles sines cosines singular samples any is_far memcpy is_singular
    sine_and_cosine sines_and_cosines far_sines_and_cosines samples_where
    REAL SELECT NAMED BROADCAST BLEND LANES LANEWISE LANEWISE_OF_TWO INLINE PART LARGEST_REDUCED
    OCTET NO_ANGLE WHOLE
"""
_LOOPS_H = """
    tree visit multiply factorise solve_column solve_square solve_one solve_three
    solve_six common_carrier invert total along complete solve_right_side solve_right_sides
    visits visits_until path_to path_until carried_by carried_until carrier_of
    wide columns entries others beyond before where put_in_row visit lanes_in_memory
    path length parent added sum constants until i j k r c v
    TREE PATH_TO BEFORE CARRIED_BY BEYOND SIX THREE ONE COUNT LOAD LOAD_SCALED CLEAR SUBTRACT
    STORE RESULT LESS REDUCE REDUCED SOLVE INVERT LOOPS AT
    ROOM WIDE SOME EVERY EACH CONSTANT PUT ALIGNED UNROLLED
"""
_PYTHON = """
    and as assert async await break class continue def del elif else except finally for from
    global if import in is lambda match nonlocal not or pass raise return try type while with
    yield False None True abs bool dict float int len list max min object range set str sum tuple
"""
_CYTHON = """
    DEF ELIF ELSE IF api by cdef cimport cpdef ctypedef emit fused gil include nogil readonly
    bint complex size_t ssize_t Py_ssize_t cython libc
"""
_NUMPY = """
    absolute arccos arcsin arctan arctan2 array complex128 empty float64 ndarray numpy np power
    where zeros
"""
_JAVASCRIPT = """
    arguments debugger delete eval function implements instanceof interface let null package super
    undefined var Float64Array Infinity Math NaN export robot solved
"""
RESERVED = frozenset(
    f"{_C} {_MATH_H} {_REAL_H} {_LOOPS_H} {_PYTHON} {_CYTHON} {_NUMPY} {_JAVASCRIPT} "
    f"{WORKSPACE}".split()
)


def identifier(name: str) -> str:
    """Check that `name` is an ASCII identifier, so that no model file can inject code."""
    if not _IDENTIFIER.fullmatch(name):
        raise ValueError(f"not an identifier, so it cannot be a name in source code: {name!r}")
    return name


def local_names(schedule: Schedule, arrays: Iterable[str]) -> dict[int, str]:
    """Return a unique name in source for every named node, distinct from `arrays` and reserved
    words.

    Runtime parameters get the prefix ``p_``, because users choose their names freely; names that
    collide get underscores at the end.
    """
    wanted: dict[int, str] = {}
    for declared in schedule.program.inputs:
        prefix = "p_" if declared.name == "parameters" else ""
        for symbol, name in zip(declared.symbols, declared.symbol_names, strict=True):
            wanted[symbol.index] = prefix + name
    lines = (line for line in schedule.lines if isinstance(line, Assignment))
    wanted.update((line.value.index, line.name) for line in lines)
    originals = set(wanted.values())
    taken = set(RESERVED).union(map(identifier, arrays))
    names: dict[int, str] = {}
    for index, original in wanted.items():
        name = identifier(original)
        while name in taken or (name != original and name in originals):
            name += "_"
        taken.add(name)
        names[index] = name
    return names
