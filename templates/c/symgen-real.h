/* What the kernels compute with: `real`, one number, or one of each of several samples.
 *
 * A kernel is written once.  Compiled as it is, `real` is a double and the kernel takes one sample:
 * plain C99.  With SYMGEN_WIDTH = 2, 4 or 8, `real` is a vector of so many doubles, lane by lane
 * those of as many samples; that needs the vector extension of gcc and clang.  SYMGEN_VARIANT is
 * put behind the names of the kernels, so that several versions can be linked together.
 *
 * Sines and cosines are found of several angles at a time: angles are reduced by quarter turns in
 * exact steps (Cody, Waite 1980), and the polynomials are those of the C library of Sun
 * (fdlibm, kernels of sin and cos).  At most 2 units in the last place are lost where an angle is
 * at most LARGEST_REDUCED; beyond, without the extension, and for one sample where SYMGEN_LIBM is
 * defined, the functions of <math.h> are used.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_REAL_H
#define SYMGEN_REAL_H

#include <math.h>
#include <string.h>

#ifndef SYMGEN_WIDTH
#define SYMGEN_WIDTH 1
#endif

#define SYMGEN_JOIN_EXPANDED(name, variant) name##_##variant
#define SYMGEN_JOIN(name, variant) SYMGEN_JOIN_EXPANDED(name, variant)
#ifdef SYMGEN_VARIANT
#define NAMED(name) SYMGEN_JOIN(name, SYMGEN_VARIANT)
#else
#define NAMED(name) name
#endif

#if defined(__GNUC__)

#define INLINE static inline __attribute__((always_inline, unused))
#define PART static __attribute__((noinline)) void

/* The vectors of sines and cosines: as wide as `real`, or for one sample as the processor's. */
#if SYMGEN_WIDTH > 1
#define LANES SYMGEN_WIDTH
#elif defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long bits __attribute__((vector_size(8 * LANES)));

#define BROADCAST(x) ((lanes){0.0} + (x))
#define BLEND(choice, x, y) ((lanes)(((choice) & (bits)(x)) | (~(choice) & (bits)(y))))

#define LARGEST_REDUCED 1.6e6  /* so that the number of quarter turns has at most 20 bits */

INLINE int any(bits choice)
{
    long long found = 0;
    for (int i = 0; i < LANES; ++i) found |= choice[i];
    return found != 0;
}

INLINE bits is_far(lanes x)
{
    return ~((x <= BROADCAST(LARGEST_REDUCED)) & (x >= BROADCAST(-LARGEST_REDUCED)));
}

INLINE void sine_and_cosine(lanes x, lanes *sine, lanes *cosine)
{
    const double shift = 6755399441055744.0;  /* 1.5 * 2^52: adding it rounds to an integer */
    const lanes shifted = x * 0.63661977236758134308 + shift;  /* 2 / pi */
    const lanes turns = shifted - shift;
    const bits quadrant = (bits)shifted;
    /* pi / 2 in three pieces of 33 bits, and the rest: every product is exact, and r + tail is what
     * remains of the angle */
    const lanes most = x - turns * 1.57079632673412561417e+00;
    const lanes r = most - turns * 6.07710050630396597660e-11;
    const lanes tail = (((most - r) - turns * 6.07710050630396597660e-11)
                        - turns * 2.02226624871116645580e-21) - turns * 8.47842766036889956997e-32;
    const lanes z = r * r, zz = z * z;
    const lanes s1 = -1.66666666666666324348e-01 + z * 8.33333333332248946124e-03;
    const lanes s2 = -1.98412698298579493134e-04 + z * 2.75573137070700676789e-06;
    const lanes s3 = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
    const lanes s0 = r + r * z * (s1 + zz * (s2 + zz * s3));
    const lanes c1 = 4.16666666666666019037e-02 + z * -1.38888888888741095749e-03;
    const lanes c2 = 2.48015872894767294178e-05 + z * -2.75573143513906633035e-07;
    const lanes c3 = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11;
    const lanes half = 0.5 * z, rough = 1.0 - half;
    const lanes c0 = rough + (((1.0 - rough) - half) + zz * (c1 + zz * (c2 + zz * c3)));
    const lanes s = s0 + tail * c0, c = c0 - tail * s0;
    const bits odd = -(quadrant & 1);
    *sine = (lanes)((bits)BLEND(odd, c, s) ^ ((quadrant & 2) << 62));
    *cosine = (lanes)((bits)BLEND(odd, s, c) ^ (((quadrant + 1) & 2) << 62));
}

static __attribute__((noinline, cold, unused)) void
far_sines_and_cosines(int count, const double *x, double *sines, double *cosines)
{
    for (int i = 0; i < count; ++i) {
        sines[i] = (sin)(x[i]);
        cosines[i] = (cos)(x[i]);
    }
}

#else

#define INLINE static
#define PART static void

#endif

#if SYMGEN_WIDTH > 1

typedef lanes real;
typedef bits truth;

#define REAL(x) BROADCAST(x)
#define WHOLE(x) ((int)(x)[0][0])  /* a whole number that all samples share */
#define NO_ANGLE {0.0}
#define OCTET(a, b, c, d, e, f, g, h) a, b, c, d, e, f, g, h
#define SELECT(choice, x, y) BLEND(choice, x, y)

/* Whether something holds: one bit for every sample. */
INLINE int samples_where(truth choice)
{
    int samples = 0;
    for (int i = 0; i < LANES; ++i) samples |= (int)(choice[i] & 1) << i;
    return samples;
}

INLINE void sines_and_cosines(int count, const real *x, real *sines, real *cosines)
{
    bits far = {0};
    for (int i = 0; i < count; ++i) {
        far |= is_far(x[i]);
        sine_and_cosine(x[i], &sines[i], &cosines[i]);
    }
    if (any(far))
        far_sines_and_cosines(count * LANES, (const double *)x, (double *)sines, (double *)cosines);
}

/* The other functions lane by lane. */
#define LANEWISE(function) \
    static __attribute__((unused)) real function##_of_lanes(real x) \
    { \
        for (int i = 0; i < LANES; ++i) x[i] = (function)(x[i]); \
        return x; \
    }
#define LANEWISE_OF_TWO(function) \
    static __attribute__((unused)) real function##_of_lanes(real x, real y) \
    { \
        for (int i = 0; i < LANES; ++i) x[i] = (function)(x[i], y[i]); \
        return x; \
    }
LANEWISE(sin)
LANEWISE(cos)
LANEWISE(tan)
LANEWISE(asin)
LANEWISE(acos)
LANEWISE(atan)
LANEWISE(exp)
LANEWISE(log)
LANEWISE(tanh)
LANEWISE(sqrt)
LANEWISE_OF_TWO(atan2)
LANEWISE_OF_TWO(pow)
#define sin(x) sin_of_lanes(REAL(x))
#define cos(x) cos_of_lanes(REAL(x))
#define tan(x) tan_of_lanes(REAL(x))
#define asin(x) asin_of_lanes(REAL(x))
#define acos(x) acos_of_lanes(REAL(x))
#define atan(x) atan_of_lanes(REAL(x))
#define exp(x) exp_of_lanes(REAL(x))
#define log(x) log_of_lanes(REAL(x))
#define tanh(x) tanh_of_lanes(REAL(x))
#define sqrt(x) sqrt_of_lanes(REAL(x))
#define atan2(y, x) atan2_of_lanes(REAL(y), REAL(x))
#define pow(x, y) pow_of_lanes(REAL(x), REAL(y))
#define fabs(x) SELECT(REAL(x) < REAL(0.0), -REAL(x), REAL(x))

#else

typedef double real;
typedef int truth;

#define REAL(x) (x)
#define WHOLE(x) ((int)*(x))
#define SELECT(choice, x, y) ((choice) ? (x) : (y))

INLINE int samples_where(truth choice) { return choice; }

#if defined(__GNUC__) && !defined(SYMGEN_LIBM)

/* Vectors are made of the angles in registers: a vector that is read where numbers were just written
 * one by one has to wait for them. */
#define NO_ANGLE 0.0
#if LANES == 8
#define OCTET(a, b, c, d, e, f, g, h) {a, b, c, d, e, f, g, h}
#elif LANES == 4
#define OCTET(a, b, c, d, e, f, g, h) {a, b, c, d}, {e, f, g, h}
#else
#define OCTET(a, b, c, d, e, f, g, h) {a, b}, {c, d}, {e, f}, {g, h}
#endif

INLINE void sines_and_cosines(int count, const lanes *x, double *sines, double *cosines)
{
    bits far = {0};
    for (int i = 0; i * LANES < count; ++i) {
        lanes sine, cosine;
        far |= is_far(x[i]);
        sine_and_cosine(x[i], &sine, &cosine);
        memcpy(sines + i * LANES, &sine, sizeof sine);
        memcpy(cosines + i * LANES, &cosine, sizeof cosine);
    }
    if (any(far)) far_sines_and_cosines(count, (const double *)x, sines, cosines);
}

#else

#if !defined(__GNUC__)
typedef double lanes;
#else
#define lanes double
#endif
#define NO_ANGLE 0.0
#define OCTET(a, b, c, d, e, f, g, h) a, b, c, d, e, f, g, h

INLINE void sines_and_cosines(int count, const double *x, double *sines, double *cosines)
{
    for (int i = 0; i < count; ++i) {
        sines[i] = sin(x[i]);
        cosines[i] = cos(x[i]);
    }
}

#endif

#endif

INLINE real sign(real x)
{
    return SELECT(x > REAL(0.0), REAL(1.0), SELECT(x < REAL(0.0), REAL(-1.0), x));
}

/* Where a pivot is at most the tolerance times the diagonal entry of its row. */
INLINE truth is_singular(int size, const real *pivots, const real *diagonal, double tolerance)
{
    const real zero = REAL(0.0);
    truth singular = zero < zero;
    for (int i = 0; i < size; ++i) singular |= pivots[i] <= tolerance * diagonal[i];
    return singular;
}

#endif
