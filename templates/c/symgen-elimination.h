/* Elimination of [A, J'; low, -1/w] in an order with little fill, without pivoting.
 *
 * Bodies on different branches are coupled by what carries them alone, and a loop by what it spans: of
 * the 48 rows of a car, each corner's are eliminated before the chassis.  The next row is the one with
 * the fewest neighbours left (minimum degree); a constraint waits for the velocities in it, without
 * which it has no pivot.  A velocity whose pivot is small against its entries, because it moves no
 * mass, waits for a constraint instead.  If that does not help, all systems are dense, with partial
 * pivoting.
 *
 * Entries that have been zero so far are left out.  Every matrix is searched for others, which are
 * added for good.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_ELIMINATION_H
#define SYMGEN_ELIMINATION_H

#ifdef SYMGEN_MECHANISM_CODE

#include <stdint.h>

static const double LEAST_PIVOT = 1e-6, WORTH = 0.5;  /* largest share of dense operations */

enum { COLUMNS = 8 };  /* right sides that are solved at once */

struct symgen_order {
    int n, m, dense;
    int *row, *place;    /* rows in their order, and its inverse: -1 until it is chosen */
    int *light;          /* n: 1 for velocities that wait for a constraint */
    int *starts, *runs;  /* pivot k has runs starts[k] to starts[k + 1]: first row, and row past the end */
    uint64_t *near;      /* N rows of bits: neighbours, with fill */
    double *outside;     /* (N, n): 1 where [A; J] and [A'; low] have been zero so far */
    double *size, *moved;
};

static int words_of(int N)
{
    return (N + 63) / 64;
}

static int count_bits(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((x * 0x0101010101010101u) >> 56);
}

static int is_near(const struct symgen_order *o, int i, int j)
{
    return (int)(o->near[i * words_of(o->n + o->m) + j / 64] >> (j % 64) & 1u);
}

static void set_near(struct symgen_order *o, int i, int j)
{
    const int words = words_of(o->n + o->m);
    o->near[i * words + j / 64] |= (uint64_t)1 << (j % 64);
    o->near[j * words + i / 64] |= (uint64_t)1 << (i % 64);
}

/* Whether an entry is not zero that has been so far. */
static int differs(const double *a, const double *outside, int size)
{
    double sums[4] = {0};
    int i = 0;
    for (; i + 4 <= size; i += 4)
        for (int k = 0; k < 4; ++k) sums[k] += fabs(a[i + k]) * outside[i + k];
    for (; i < size; ++i) sums[0] += fabs(a[i]) * outside[i];
    return !(sums[0] + sums[1] + sums[2] + sums[3] == 0.0);
}

/* Add entries that are not zero. */
static void note_entries(struct symgen_order *o, const double *A, const double *J, const double *low)
{
    const int n = o->n, m = o->m;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (A[i * n + j] != 0.0) o->outside[i * n + j] = o->outside[j * n + i] = 0.0;
    for (int i = 0; i < m * n; ++i)
        if (J[i] != 0.0 || low[i] != 0.0) o->outside[n * n + i] = 0.0;
}

/* Whether a row has a pivot: a light velocity behind a constraint in which it is; a constraint behind
 * all velocities in it that are not light, and if all are behind one of them. */
static int may_be_next(const struct symgen_order *o, int v)
{
    const int n = o->n, N = n + o->m;
    int in_it = 0, behind = 0;
    if (v < n && !o->light[v]) return 1;
    if (v < n) {
        for (int i = n; i < N; ++i) behind |= o->place[i] >= 0 && o->outside[i * n + v] == 0.0;
        return behind;
    }
    for (int j = 0; j < n; ++j) {
        if (o->outside[v * n + j] != 0.0) continue;
        if (o->place[j] < 0 && !o->light[j]) return 0;
        in_it = 1;
        behind |= o->place[j] >= 0;
    }
    return behind || !in_it;
}

/* The row with the fewest neighbours left. */
static int next_row(const struct symgen_order *o)
{
    const int N = o->n + o->m, words = words_of(N);
    int best = -1, least = N + 1;
    for (int v = 0; v < N; ++v) {
        if (o->place[v] >= 0 || !may_be_next(o, v)) continue;
        int degree = 0;
        for (int k = 0; k < words; ++k) degree += count_bits(o->near[v * words + k]);
        if (degree < least) {
            least = degree;
            best = v;
        }
    }
    return best;
}

/* The order of elimination, and what each pivot changes. */
static void choose_order(struct symgen_order *o)
{
    const int n = o->n, N = n + o->m, words = words_of(N);
    double operations = 0.0;
    memset(o->near, 0, sizeof(uint64_t) * (size_t)(N * words));
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < n; ++j)
            if (i != j && o->outside[i * n + j] == 0.0) set_near(o, i, j);
    for (int v = 0; v < N; ++v) o->place[v] = -1;
    for (int k = 0; k < N; ++k) {
        const int v = o->row[k] = next_row(o);
        o->dense = v < 0;
        if (o->dense) return;
        o->place[v] = k;
        for (int u = 0; u < N; ++u) {
            if (o->place[u] >= 0 || !is_near(o, v, u)) continue;
            for (int i = 0; i < words; ++i) o->near[u * words + i] |= o->near[v * words + i];
            o->near[u * words + u / 64] &= ~((uint64_t)1 << (u % 64));
            o->near[u * words + v / 64] &= ~((uint64_t)1 << (v % 64));
        }
    }
    int run = 0;
    for (int k = 0; k < N; ++k) {
        double count = 0.0;
        o->starts[k] = run;
        for (int j = k + 1, before = 0; j < N; ++j) {
            const int is = is_near(o, o->row[k], o->row[j]);
            if (is && !before) o->runs[2 * run] = j;
            if (is) o->runs[2 * run + 1] = j + 1;
            run += before && !is;
            before = is;
            count += is;
            if (is && j == N - 1) ++run;
        }
        operations += count * count;
    }
    o->starts[N] = run;
    o->dense = operations > WORTH * N * N * N / 3.0;
}

static double larger(double a, double b)
{
    return fabs(b) > a ? fabs(b) : a;
}

/* Factorise in this order; 0 where a pivot is small, -1 where another order avoids it.  `a` (N, N) has rows in the order, the inverses of
 * pivots among them. */
static int eliminate(struct symgen_order *o, double *a, const double *A, const double *J, const double *low,
                     double w)
{
    const int n = o->n, N = n + o->m;
    const int *const runs = o->runs;
    memset(o->size, 0, sizeof(double) * (size_t)N);
    for (int k = 0; k < N; ++k) {
        const int i = o->row[k];
        a[k * N + k] = i < n ? A[i * n + i] : -1.0 / w;
        o->size[k] = larger(o->size[k], a[k * N + k]);
        for (int run = o->starts[k]; run < o->starts[k + 1]; ++run)
            for (int l = runs[2 * run]; l < runs[2 * run + 1]; ++l) {
                const int j = o->row[l];
                double above = 0.0, below = 0.0;
                if (i < n && j < n) above = A[i * n + j], below = A[j * n + i];
                else if (i < n) above = J[(j - n) * n + i], below = low[(j - n) * n + i];
                else if (j < n) above = low[(i - n) * n + j], below = J[(i - n) * n + j];
                a[k * N + l] = above;
                a[l * N + k] = below;
                o->size[k] = larger(o->size[k], above);
                o->size[l] = larger(o->size[l], below);
            }
    }
    for (int k = 0; k < N; ++k) {
        const double *const pivot = a + k * N;
        if (!(fabs(pivot[k]) > LEAST_PIVOT * o->size[k])) {
            const int i = o->row[k], heavy = i < n && !o->light[i];
            if (heavy) o->light[i] = 1;
            return -heavy;
        }
        const double inverse = a[k * N + k] = 1.0 / pivot[k];
        for (int down = o->starts[k]; down < o->starts[k + 1]; ++down)
            for (int i = runs[2 * down]; i < runs[2 * down + 1]; ++i) {
                double *const changed = a + i * N;
                const double factor = changed[k] *= inverse;
                for (int run = o->starts[k]; run < o->starts[k + 1]; ++run)
                    for (int j = runs[2 * run]; j < runs[2 * run + 1]; ++j) changed[j] -= factor * pivot[j];
            }
    }
    return 1;
}

/* b (N, s) becomes the solution of its first column. */
static void substitute_one(const struct symgen_order *o, const double *a, int s, double *b)
{
    const int N = o->n + o->m;
    const int *const runs = o->runs;
    double *const x = o->moved;
    for (int k = 0; k < N; ++k) x[k] = b[o->row[k] * s];
    for (int k = 0; k < N; ++k)
        for (int run = o->starts[k]; run < o->starts[k + 1]; ++run)
            for (int i = runs[2 * run]; i < runs[2 * run + 1]; ++i) x[i] -= a[i * N + k] * x[k];
    for (int k = N - 1; k >= 0; --k) {
        double left = x[k];
        for (int run = o->starts[k]; run < o->starts[k + 1]; ++run)
            for (int j = runs[2 * run]; j < runs[2 * run + 1]; ++j) left -= a[k * N + j] * x[j];
        x[k] = left * a[k * N + k];
    }
    for (int k = 0; k < N; ++k) b[o->row[k] * s] = x[k];
}

/* b (N, s) becomes the solution of its first columns, COLUMNS at most. */
static void substitute_several(const struct symgen_order *o, const double *a, int columns, int s, double *b)
{
    const int N = o->n + o->m;
    const int *const runs = o->runs;
    double(*const x)[COLUMNS] = (double(*)[COLUMNS])o->moved;
    memset(x, 0, sizeof *x * (size_t)N);
    for (int k = 0; k < N; ++k)
        for (int c = 0; c < columns; ++c) x[k][c] = b[o->row[k] * s + c];
    for (int k = 0; k < N; ++k) {
        double row[COLUMNS];  /* of its own: nothing else changes it */
        memcpy(row, x[k], sizeof row);
        for (int run = o->starts[k]; run < o->starts[k + 1]; ++run)
            for (int i = runs[2 * run]; i < runs[2 * run + 1]; ++i) {
                const double factor = a[i * N + k];
                for (int c = 0; c < COLUMNS; ++c) x[i][c] -= factor * row[c];
            }
    }
    for (int k = N - 1; k >= 0; --k) {
        double row[COLUMNS];
        memcpy(row, x[k], sizeof row);
        for (int run = o->starts[k]; run < o->starts[k + 1]; ++run)
            for (int j = runs[2 * run]; j < runs[2 * run + 1]; ++j) {
                const double factor = a[k * N + j];
                for (int c = 0; c < COLUMNS; ++c) row[c] -= factor * x[j][c];
            }
        for (int c = 0; c < COLUMNS; ++c) x[k][c] = row[c] * a[k * N + k];
    }
    for (int k = 0; k < N; ++k)
        for (int c = 0; c < columns; ++c) b[o->row[k] * s + c] = x[k][c];
}

/* b (N, s) becomes the solution. */
static void substitute_in_order(const struct symgen_order *o, const double *a, int s, double *b)
{
    int c = 0;
    for (; c + 1 < s; c += COLUMNS)
        substitute_several(o, a, s - c < COLUMNS ? s - c : COLUMNS, s, b + c);
    if (c < s) substitute_one(o, a, s, b + c);
}

#endif
#endif
