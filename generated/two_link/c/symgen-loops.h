/* What loops over joints compute with: `wide`, one number of each of several joints.
 *
 * A kernel for one sample takes as many joints at a time as the processor's vectors hold; one for
 * several samples has a vector for every joint as it is, and takes the joints one by one.  Columns
 * and rows of square arrays that stay inside have room for whole vectors.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_LOOPS_H
#define SYMGEN_LOOPS_H

#include "symgen-real.h"

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#define UNROLLED _Pragma("GCC unroll 4")
#define LOOPS static __attribute__((noinline, unused))
#else
#define ALIGNED
#define UNROLLED
#define LOOPS static
#endif

#if SYMGEN_WIDTH == 1 && defined(__GNUC__)

#define WIDE LANES

typedef lanes wide;
typedef double lanes_in_memory __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define EACH(x) BROADCAST(x)
#define AT(address) (*(lanes_in_memory *)(address))
#define SOME(place) (*(const lanes_in_memory *)(columns + (place)))
#define CONSTANT(place) (*(const lanes_in_memory *)(constants + (place)))

/* A row of a square array, and a bit for every column of a vector that its joint carries, or is, and
 * for every one that carries it. */
struct visit {
    short row;
    unsigned char beyond, before;
};

/* x where there is a bit, else 0. */
INLINE wide where(int choice, wide x)
{
#if LANES == 8
    const bits places = {1, 2, 4, 8, 16, 32, 64, 128};
#elif LANES == 4
    const bits places = {1, 2, 4, 8};
#else
    const bits places = {1, 2};
#endif
    const bits chosen = (((bits){0} + choice) & places) == places;
    return (wide)((bits)x & chosen);
}

/* Columns c and following of row r of a square array.  What goes beyond the row must be overwritten
 * later: rows are filled one after the other, or vectors of columns from the last to the first. */
INLINE void put_in_row(double *square, int size, int stride, int r, int c, wide x)
{
    double *const at = square + r * stride + c;
    const int left = size * stride - r * stride - c;
    if (left >= WIDE)
        AT(at) = x;
    else
        for (int i = 0; i < left; ++i) at[i] = x[i];
}

/* The same entry of `count` joints or of as many as a vector has, `step` from each other. */
INLINE void put_beside(double *at, int count, int step, wide x)
{
    for (int i = 0; i < WIDE && i < count; ++i) at[i * step] = x[i];
}

INLINE double total(wide x)
{
    double sum = x[0];
    for (int i = 1; i < LANES; ++i) sum += x[i];
    return sum;
}

#else

#define WIDE 1

typedef real wide;

#define EACH(x) REAL(x)
#define AT(address) (*(address))
#define SOME(place) (columns[place])
#define CONSTANT(place) REAL(constants[place])

INLINE void put_in_row(real *square, int size, int stride, int r, int c, wide x)
{
    (void)size;
    square[r * stride + c] = x;
}

#endif

#define EVERY(place) EACH(columns[place])
#define PUT(place, value) (AT(columns + (place)) = (value))

/* ---- solving: M = L^T D L, leaves first (Featherstone 2008, section 6.5) ----
 *
 * For every joint the joints from the base to it, itself the last, and those that it carries. */
struct tree {
    int size;
    const int *path, *path_until, *carried, *carried_until;
};

#define PATH_TO(k) (t->path + t->path_until[k])
#define BEFORE(k) (t->path_until[(k) + 1] - t->path_until[k] - 1)
#define CARRIED_BY(k) (t->carried + t->carried_until[k])
#define BEYOND(k) (t->carried_until[(k) + 1] - t->carried_until[k])

/* Sum of row_k x_k over some joints, in two halves, so that neither waits for the other. */
INLINE real along(const int *joints, int count, const real *row, const real *x)
{
    real even = REAL(0.0), odd = REAL(0.0);
    for (; count > 1; joints += 2, count -= 2) {
        even += row[joints[0]] * x[joints[0]];
        odd += row[joints[1]] * x[joints[1]];
    }
    if (count) even += row[*joints] * x[*joints];
    return even + odd;
}

/* y_i = sum of m_ik x_k over the joints related to i */
LOOPS void multiply(const struct tree *t, const real *restrict m, int stride, const real *restrict x,
                    real *restrict y)
{
    for (int i = 0; i < t->size; ++i) {
        const real *const row = m + i * stride;
#if WIDE > 1
        wide sum = EACH(0.0);
        for (int k = 0; k < t->size; k += WIDE) sum += AT(row + k) * AT(x + k);
        y[i] = total(sum);
#else
        y[i] = along(PATH_TO(i), BEFORE(i) + 1, row, x) + along(CARRIED_BY(i), BEYOND(i), row, x);
#endif
    }
}

/* M x = b, x instead of b */
LOOPS void solve_column(const struct tree *t, const real *restrict m, int stride, real *restrict x)
{
    for (int k = t->size - 1; k >= 0; --k)
        for (int a = 0; a < BEFORE(k); ++a) x[PATH_TO(k)[a]] -= m[k * stride + PATH_TO(k)[a]] * x[k];
    for (int k = 0; k < t->size; ++k) {
        const real *const row = m + k * stride;
        x[k] = row[k] * x[k] - along(PATH_TO(k), BEFORE(k), row, x);
    }
}

/* Rows are taken in pieces of some vectors, which stay in registers while multiples of other rows are
 * subtracted: a row alone, r, or with it the next one, s. */
#define ONE(X) X(0)
#define TWO(X) ONE(X) X(1)
#define THREE(X) TWO(X) X(2)
#define FOUR(X) THREE(X) X(3)
#define FIVE(X) FOUR(X) X(4)
#define SIX(X) FIVE(X) X(5)
#define SEVEN(X) SIX(X) X(6)
#define EIGHT(X) SEVEN(X) X(7)
#define COUNT(i) + 1
#define LOAD(i) wide r##i = AT(at + i * WIDE);
#define CLEAR(i) wide r##i = EACH(0.0);
#define SCALE(i) r##i = pivot * AT(at + i * WIDE);
#define SCALED(i) wide r##i = pivot * AT(at + i * WIDE);
#define SCALED_NEXT(i) wide s##i = pivot_next * AT(next + i * WIDE);
#define SUBTRACT(i) r##i -= factor * AT(from + i * WIDE);
#define SUBTRACT_FROM_BOTH(i) \
    do { \
        const wide other = AT(from + i * WIDE); \
        r##i -= factor * other; \
        s##i -= factor_next * other; \
    } while (0);
#define SUBTRACT_ROW(i) s##i -= factor_next * r##i;
#define STORE(i) AT(at + i * WIDE) = r##i;
#define STORE_NEXT(i) AT(next + i * WIDE) = s##i;
#define RESULT(i) put_in_row(x, n, n, k, c + i * WIDE, r##i);
#define RESULT_NEXT(i) put_in_row(x, n, n, k + 1, c + i * WIDE, s##i);
#define LESS(VECTORS, multiplier, row) \
    do { \
        const wide factor = EACH(multiplier); \
        const real *const from = (row) + c; \
        VECTORS(SUBTRACT) \
    } while (0)

/* A row of M: vectors of columns up to the diagonal, or of several samples the entries of its path. */
#if WIDE > 1
#define ENTRIES(i) ((i) / WIDE + 1)
#define COLUMN(v) (c + v) * WIDE
#else
#define ENTRIES(i) (BEFORE(i) + 1)
#define COLUMN(v) path[c + v]
#endif
#define LOAD_ENTRY(v) const int at_##v = COLUMN(v); wide r##v = AT(row + at_##v);
#define SUBTRACT_ENTRY(v) r##v -= factor * AT(from + at_##v);
#define STORE_ENTRY(v) AT(row + at_##v) = r##v;
#define ELIMINATE(VECTORS) \
    do { \
        VECTORS(LOAD_ENTRY) \
        for (int l = BEYOND(i) - 1; l >= 0; --l) { \
            const int k = CARRIED_BY(i)[l]; \
            const real *const from = m + k * stride; \
            const wide factor = EACH(from[i] * from[k]); \
            VECTORS(SUBTRACT_ENTRY) \
        } \
        VECTORS(STORE_ENTRY) \
    } while (0)

/* L below the diagonal of m, 1 / D on it; what stands above is lost. */
LOOPS void factorise(const struct tree *t, real *restrict m, int stride, real *restrict pivots,
                     real *restrict diagonal)
{
    for (int i = t->size - 1; i >= 0; --i) {
        real *const row = m + i * stride;
        const int *const path = PATH_TO(i);
        int c = 0;
        (void)path;
        diagonal[i] = row[i];
        for (; c + 8 < ENTRIES(i); c += 8) ELIMINATE(EIGHT);
        switch (ENTRIES(i) - c) {
        case 1: ELIMINATE(ONE); break;
        case 2: ELIMINATE(TWO); break;
        case 3: ELIMINATE(THREE); break;
        case 4: ELIMINATE(FOUR); break;
        case 5: ELIMINATE(FIVE); break;
        case 6: ELIMINATE(SIX); break;
        case 7: ELIMINATE(SEVEN); break;
        default: ELIMINATE(EIGHT);
        }
        pivots[i] = row[i];
        row[i] = REAL(1.0) / row[i];
    }
    for (int k = 0; k < t->size; ++k) {
        real *const row = m + k * stride;
        for (int a = 0; a < BEFORE(k); ++a) row[PATH_TO(k)[a]] *= row[k];
    }
}

/* Whether joint k carries the next one itself. */
INLINE int carries_next(const struct tree *t, int k)
{
    return k + 1 < t->size && BEFORE(k + 1) == BEFORE(k) + 1 && PATH_TO(k + 1)[BEFORE(k)] == k;
}

#if WIDE > 1

/* The last joint that carries all joints from `first` on, or is one of them; -1 for none. */
INLINE int common_carrier(const struct tree *t, int first, int count)
{
    const int end = first + count < t->size ? first + count : t->size;
    int depth = BEFORE(first);
    for (int k = first + 1; k < end; ++k)
        while (depth >= 0 && (BEFORE(k) < depth || PATH_TO(k)[depth] != PATH_TO(first)[depth]))
            --depth;
    return depth < 0 ? -1 : PATH_TO(first)[depth];
}

/* Rows of the result are read from where they are aligned. */
#define SOLVED(i) (b + (i) * stride)
#define KEEP(VECTORS, WHICH) VECTORS(WHICH)
#define IS_ZERO(k) 0
#define TWO_AT_A_TIME 1

#else

/* Of joints that carry one another, each the next alone, one carries all. */
#define common_carrier(t, first, count) (first)

/* Whether one of two joints carries the other, or is the other. */
INLINE int are_related(const struct tree *t, int i, int k)
{
    const int depth = BEFORE(i) < BEFORE(k) ? BEFORE(i) : BEFORE(k);
    return PATH_TO(i)[depth] == PATH_TO(k)[depth];
}

/* How many joints from c on are each the only one that the former carries next to it. */
INLINE int joints_in_line(const struct tree *t, int c)
{
    int end = c + 1;
    while (carries_next(t, end - 1) && BEYOND(end) == BEYOND(end - 1) - 1) ++end;
    return end - c;
}

#define SOLVED(i) (x + (i) * n)
#define KEEP(VECTORS, WHICH)
#define IS_ZERO(k) !are_related(t, k, carrier)
#define TWO_AT_A_TIME 0

#endif

#define REDUCE(VECTORS, list, count) \
    for (const int *k = list, *const end = k + (count); k < end; ++k) \
        LESS(VECTORS, m[*k * stride + i], b + *k * stride)
#define REDUCED(VECTORS, row) \
    do { \
        const int i = row; \
        real *const at = b + i * stride + c; \
        VECTORS(LOAD) \
        REDUCE(VECTORS, CARRIED_BY(i), BEYOND(i)); \
        VECTORS(STORE) \
    } while (0)

/* Row k of X, and row k + 1 with it */
#define ONE_ROW(VECTORS) \
    do { \
        real *const at = b + k * stride + c; \
        const wide pivot = EACH(-m[k * (stride + 1)]); \
        VECTORS(CLEAR) \
        if (!IS_ZERO(k)) { VECTORS(SCALE) } \
        for (const int *i = PATH_TO(k), *const end = i + BEFORE(k); i < end; ++i) \
            LESS(VECTORS, m[k * stride + *i], SOLVED(*i)); \
        KEEP(VECTORS, STORE) \
        VECTORS(RESULT) \
    } while (0)
#define TWO_ROWS(VECTORS) \
    do { \
        real *const at = b + k * stride + c, *const next = at + stride; \
        const real *const factors = m + k * stride, *const factors_next = factors + stride; \
        const wide pivot = EACH(-factors[k]), pivot_next = EACH(-factors_next[k + 1]); \
        VECTORS(SCALED) \
        VECTORS(SCALED_NEXT) \
        for (const int *i = PATH_TO(k), *const end = i + BEFORE(k); i < end; ++i) { \
            const wide factor = EACH(factors[*i]), factor_next = EACH(factors_next[*i]); \
            const real *const from = SOLVED(*i) + c; \
            VECTORS(SUBTRACT_FROM_BOTH) \
        } \
        const wide factor_next = EACH(factors_next[k]); \
        VECTORS(SUBTRACT_ROW) \
        KEEP(VECTORS, STORE) \
        KEEP(VECTORS, STORE_NEXT) \
        VECTORS(RESULT) \
        VECTORS(RESULT_NEXT) \
    } while (0)

/* L^T Y = -B, then L X = D^-1 Y.  In columns of joints that one joint carries Y is 0 but for joints
 * that are related to that one. */
#define SOLVE(name, VECTORS) \
    INLINE void name(const struct tree *t, const real *m, int stride, real *b, real *x, int c) \
    { \
        const int n = t->size, carrier = common_carrier(t, c, (0 VECTORS(COUNT)) * WIDE); \
        if (carrier < 0) { \
            for (int row = n - 1; row >= 0; --row) REDUCED(VECTORS, row); \
        } else { \
            for (int l = BEYOND(carrier) - 1; l >= 0; --l) \
                REDUCED(VECTORS, CARRIED_BY(carrier)[l]); \
            REDUCED(VECTORS, carrier); \
            for (int l = BEFORE(carrier) - 1; l >= 0; --l) { \
                const int i = PATH_TO(carrier)[l]; \
                real *const at = b + i * stride + c; \
                VECTORS(LOAD) \
                REDUCE(VECTORS, PATH_TO(carrier) + l + 1, BEFORE(carrier) - l); \
                REDUCE(VECTORS, CARRIED_BY(carrier), BEYOND(carrier)); \
                VECTORS(STORE) \
            } \
        } \
        for (int k = 0; k < n; ++k) { \
            if (TWO_AT_A_TIME && carries_next(t, k)) { \
                TWO_ROWS(VECTORS); \
                ++k; \
            } else \
                ONE_ROW(VECTORS); \
        } \
    }
SOLVE(solve_one, ONE)
SOLVE(solve_three, THREE)
SOLVE(solve_six, SIX)
#if WIDE == 1
SOLVE(solve_two, TWO)
SOLVE(solve_four, FOUR)
SOLVE(solve_five, FIVE)
SOLVE(solve_seven, SEVEN)
SOLVE(solve_eight, EIGHT)
#endif

/* M X = -B; b is lost.  Of several samples entries of joints that are not related are not read. */
LOOPS void solve_square(const struct tree *t, const real *restrict m, int stride, real *restrict b,
                        real *restrict x)
{
#if WIDE > 1
    int left = (t->size + WIDE - 1) / WIDE;
    for (; left % 3; --left) solve_one(t, m, stride, b, x, (left - 1) * WIDE);
    if (left % 6) left -= 3, solve_three(t, m, stride, b, x, left * WIDE);
    for (; left; ) left -= 6, solve_six(t, m, stride, b, x, left * WIDE);
#else
    for (int c = 0, width; c < t->size; c += width) {
        const int in_line = joints_in_line(t, c), pieces = (in_line + 7) / 8;
        width = (in_line + pieces - 1) / pieces;
        switch (width) {
        case 1: solve_one(t, m, stride, b, x, c); break;
        case 2: solve_two(t, m, stride, b, x, c); break;
        case 3: solve_three(t, m, stride, b, x, c); break;
        case 4: solve_four(t, m, stride, b, x, c); break;
        case 5: solve_five(t, m, stride, b, x, c); break;
        case 6: solve_six(t, m, stride, b, x, c); break;
        case 7: solve_seven(t, m, stride, b, x, c); break;
        default: solve_eight(t, m, stride, b, x, c);
        }
    }
#endif
}

/* Vectors of row k of M^-1 below the diagonal, from column c on */
#define INVERT(VECTORS) \
    do { \
        VECTORS(CLEAR) \
        for (const int *i = PATH_TO(k), *const end = i + BEFORE(k); i < end; ++i) \
            LESS(VECTORS, m[k * stride + *i], x + *i * n); \
        VECTORS(RESULT) \
    } while (0)

/* X = M^-1: row by row up to the diagonal, L M^-1 = D^-1 L^-T, and mirrored */
LOOPS void invert(const struct tree *t, const real *restrict m, int stride, real *x)
{
    const int n = t->size;
    for (int k = 0; k < n; ++k) {
        int c = 0;
        if (n >= WIDE) {
            for (; c + 5 * WIDE < k; c += 6 * WIDE) INVERT(SIX);
            for (; c + 2 * WIDE < k; c += 3 * WIDE) INVERT(THREE);
            for (; c < k; c += WIDE) INVERT(ONE);
        }
        for (; c < k; ++c) {  /* a robot smaller than a vector */
            real sum = REAL(0.0);
            for (int a = 0; a < BEFORE(k); ++a)
                sum -= m[k * stride + PATH_TO(k)[a]] * x[PATH_TO(k)[a] * n + c];
            x[k * n + c] = sum;
        }
        real own = m[k * (stride + 1)];
        for (int a = 0; a < BEFORE(k); ++a)
            own -= m[k * stride + PATH_TO(k)[a]] * x[k * n + PATH_TO(k)[a]];
        x[k * (n + 1)] = own;
        for (int i = 0; i < k; ++i) x[i * n + k] = x[k * n + i];
    }
}

#endif
