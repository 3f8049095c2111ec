/* Accelerations of a mechanism whose loops stay closed: symgen/runtime/mechanism.py in C.
 *
 * With M of the tree cut open and J of the constraints, for each of several right sides
 *
 *     M a - J' x = above,    J a = below.
 *
 * Gram and Schmidt make J = L Q with orthonormal rows of Q, the longest remainder first, until what
 * remains is RANK of the first; rows that say the same as others end there.  L = U S in the same way.
 * With the rows of N orthogonal to those of Q,
 *
 *     a = Q' w + N' v,    S w = U' below,    N M N' v = N (above - M Q' w),
 *     x = U y,    S' y = Q (M a - above)
 *
 * and x is the multiplier of least norm.  Rows are in units of their size, and x in inverse ones.
 */
#ifndef SYMGEN_CONSTRAINED_H
#define SYMGEN_CONSTRAINED_H

static const double RANK = 1e-6, RESISTS = 1e-14;

enum { FEW = 512 };  /* numbers that need no allocated memory */

struct symgen_closure {
    int n, m, r;
    const double *M, *J;
    double *Q;     /* (n, n): r rows of Q, and those of N below them */
    double *rest;  /* (m, n) */
    double *U;     /* (m, m): r rows, the columns of U */
    double *S;     /* (m, m): upper triangle */
    double *G;     /* (n, n): Cholesky factor of N M N' */
    double *right; /* n: scratch */
};

static double product(int size, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

static void add_multiple(int size, double factor, const double *b, double *a)
{
    for (int i = 0; i < size; ++i) a[i] += factor * b[i];
}

static void scale(int size, double factor, double *v)
{
    for (int i = 0; i < size; ++i) v[i] *= factor;
}

/* v becomes orthogonal to `count` orthonormal rows, and of length 1; its shares of them are added to
 * `shares`, at every `stride`, where that is not NULL.  Again where most of it went, for rounding.
 * Its length before it is made 1. */
static double orthonormalise(int size, int count, const double *rows, double *v, double *shares, int stride)
{
    double square = product(size, v, v), before;
    do {
        before = square;
        for (int k = 0; k < count; ++k) {
            const double share = product(size, rows + k * size, v);
            add_multiple(size, -share, rows + k * size, v);
            if (shares) shares[k * stride] += share;
        }
        square = product(size, v, v);
    } while (square < 0.5 * before);
    const double length = sqrt(square);
    scale(size, 1.0 / length, v);
    return length;
}

/* Q, and L row by row in the columns of U, which are its rows: L[i][k] = U[k * m + i]. */
static void split_rows(struct symgen_closure *c)
{
    const int n = c->n, m = c->m;
    double first = 0.0;
    memcpy(c->rest, c->J, sizeof(double) * (size_t)(m * n));
    for (c->r = 0; c->r < n && c->r < m; ++c->r) {
        double *const q = c->Q + c->r * n, largest_square = -1.0;
        int best = 0;
        for (int i = 0; i < m; ++i) {
            const double square = product(n, c->rest + i * n, c->rest + i * n);
            if (square > largest_square) {
                largest_square = square;
                best = i;
            }
        }
        if (!c->r) first = largest_square;
        if (!(largest_square > RANK * RANK * first)) return;
        memcpy(q, c->rest + best * n, sizeof(double) * (size_t)n);
        orthonormalise(n, c->r, c->Q, q, 0, 0);
        for (int i = 0; i < m; ++i) {
            const double share = c->U[c->r * m + i] = product(n, c->rest + i * n, q);
            add_multiple(n, -share, q, c->rest + i * n);
        }
    }
}

/* The rows of N: what is left of unit vectors, the one that Q has least of first. */
static void complete(struct symgen_closure *c)
{
    const int n = c->n;
    for (int count = c->r; count < n; ++count) {
        double *const v = c->Q + count * n, least = 2.0;
        int best = 0;
        for (int j = 0; j < n; ++j) {
            double share = 0.0;
            for (int k = 0; k < count; ++k) share += c->Q[k * n + j] * c->Q[k * n + j];
            if (share < least) {
                least = share;
                best = j;
            }
        }
        memset(v, 0, sizeof(double) * (size_t)n);
        v[best] = 1.0;
        orthonormalise(n, count, c->Q, v, 0, 0);
    }
}

/* Cholesky's factor of N M N'; 0 where a motion that is free meets no inertia. */
static int factorise_free(struct symgen_closure *c)
{
    const int n = c->n, f = n - c->r;
    const double *const N = c->Q + c->r * n;
    for (int i = 0; i < f; ++i) {
        for (int j = 0; j < n; ++j) c->right[j] = product(n, c->M + j * n, N + i * n);
        for (int j = 0; j <= i; ++j) c->G[i * f + j] = product(n, N + j * n, c->right);
    }
    for (int i = 0; i < f; ++i) {
        const double whole = c->G[i * f + i];
        for (int j = 0; j <= i; ++j) {
            const double sum = c->G[i * f + j] - product(j, c->G + i * f, c->G + j * f);
            if (j < i) {
                c->G[i * f + j] = sum / c->G[j * f + j];
            } else {
                if (!(sum > RESISTS * whole)) return 0;
                c->G[i * f + i] = sqrt(sum);
            }
        }
    }
    return 1;
}

static int factorise_closure(struct symgen_closure *c)
{
    const int m = c->m;
    split_rows(c);
    memset(c->S, 0, sizeof(double) * (size_t)(m * m));
    for (int k = 0; k < c->r; ++k)
        c->S[k * m + k] = orthonormalise(m, k, c->U, c->U + k * m, c->S + k, m);
    complete(c);
    return factorise_free(c);
}

/* target (columns, k) += the transpose of matrix (rows, columns) times b (rows, k) */
static void add_transposed(int rows, int columns, int k, const double *matrix, const double *b, double *target)
{
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) add_multiple(k, matrix[i * columns + j], b + i * k, target + j * k);
}

/* a (n, k), x (m, k) of above (n, k), below (m, k); w and f are scratch of (n, k). */
static void solve_closure(const struct symgen_closure *c, int k, const double *above, const double *below,
                          double *a, double *x, double *w, double *f)
{
    const int n = c->n, m = c->m, r = c->r, free = n - r;
    const double *const N = c->Q + r * n;
    /* a = Q' w, S w = U' below */
    memset(w, 0, sizeof(double) * (size_t)(r * k));
    add_product(r, m, k, 1.0, c->U, below, w);
    for (int i = r - 1; i >= 0; --i) {
        for (int j = i + 1; j < r; ++j) add_multiple(k, -c->S[i * m + j], w + j * k, w + i * k);
        scale(k, 1.0 / c->S[i * m + i], w + i * k);
    }
    memset(a, 0, sizeof(double) * (size_t)(n * k));
    add_transposed(r, n, k, c->Q, w, a);
    /* a += N' v, N M N' v = N (above - M a) */
    memcpy(f, above, sizeof(double) * (size_t)(n * k));
    add_product(n, n, k, -1.0, c->M, a, f);
    memset(w, 0, sizeof(double) * (size_t)(free * k));
    add_product(free, n, k, 1.0, N, f, w);
    for (int i = 0; i < free; ++i) {
        for (int j = 0; j < i; ++j) add_multiple(k, -c->G[i * free + j], w + j * k, w + i * k);
        scale(k, 1.0 / c->G[i * free + i], w + i * k);
    }
    for (int i = free - 1; i >= 0; --i) {
        for (int j = i + 1; j < free; ++j) add_multiple(k, -c->G[j * free + i], w + j * k, w + i * k);
        scale(k, 1.0 / c->G[i * free + i], w + i * k);
    }
    add_transposed(free, n, k, N, w, a);
    /* x = U y, S' y = Q (M a - above) */
    for (int i = 0; i < n * k; ++i) f[i] = -above[i];
    add_product(n, n, k, 1.0, c->M, a, f);
    memset(w, 0, sizeof(double) * (size_t)(r * k));
    add_product(r, n, k, 1.0, c->Q, f, w);
    for (int i = 0; i < r; ++i) {
        for (int j = 0; j < i; ++j) add_multiple(k, -c->S[j * m + i], w + j * k, w + i * k);
        scale(k, 1.0 / c->S[i * m + i], w + i * k);
    }
    memset(x, 0, sizeof(double) * (size_t)(m * k));
    add_transposed(r, m, k, c->U, w, x);
}

/* Whether a row of J a = below is not met, which redundant rows alone can be. */
static int leaves_rows(const struct symgen_closure *c, const double *a, const double *below)
{
    double most_left = 0.0, whole = 0.0;
    if (c->r == c->m) return 0;
    for (int i = 0; i < c->m; ++i) {
        double left = -below[i], size = fabs(below[i]);
        for (int j = 0; j < c->n; ++j) {
            const double term = c->J[i * c->n + j] * a[j];
            left += term;
            size += fabs(term);
        }
        most_left = fmax(most_left, fabs(left));
        whole = fmax(whole, size);
    }
    return most_left > RANK * whole;
}

/* Sizes of the rows of J, (m): 1 where the unit is -1, else the largest norm of a row of that unit. */
static void find_sizes(int n, int m, const int *unit, const double *J, double *size)
{
    for (int i = 0; i < m; ++i) {
        size[i] = unit[i] < 0;
        for (int k = 0; k < m; ++k)
            if (unit[i] >= 0 && unit[k] == unit[i]) size[i] = fmax(size[i], sqrt(product(n, J + k * n, J + k * n)));
        if (size[i] == 0.0) size[i] = 1.0;
    }
}

/* Each row of (m, k) becomes that many times smaller. */
static void divide_rows(int m, int k, const double *size, double *rows)
{
    for (int i = 0; i < m; ++i) scale(k, 1.0 / size[i], rows + i * k);
}

/* Columns first, first + 1, ... of (rows, 3 n) into (rows, n). */
static void take_columns(int rows, int n, int first, const double *whole, double *part)
{
    for (int i = 0; i < rows; ++i)
        memcpy(part + i * n, whole + i * 3 * n + first, sizeof(double) * (size_t)n);
}

/* y: qdd and multipliers at x: q, qd, tau, t, loads, parameters, and with `slopes` their derivatives by
 * q, qd and tau.  1 where they are not determined or leave rows, -1 where there is no memory. */
static int symgen_constrained(const struct symgen_mechanism *of, const double **x, double **y, int slopes)
{
    const int n = of->n, m = of->m, wide = slopes ? 3 * n : 1;
    const double *known[QUANTITIES] = {x[0], x[1], 0, x[2], 0, x[3], x[4], x[5]};
    struct symgen_closure c = {.n = n, .m = m};
    size_t used = 0;
    double few[FEW], *block = 0, *M, *J, *h, *bias, *above, *below, *a, *mu, *w, *f, *size, *second[3], *felt[4], *pulled[2];
    for (int pass = 0; pass < 2; ++pass) {
        if (pass && !(block = used <= FEW ? few : malloc(sizeof(double) * used))) return -1;
        used = 0;
        M = carve(block, &used, (size_t)(n * n));
        J = carve(block, &used, (size_t)(m * n));
        h = carve(block, &used, (size_t)n);
        bias = carve(block, &used, (size_t)m);
        size = carve(block, &used, (size_t)m);
        c.Q = carve(block, &used, (size_t)(n * n));
        c.rest = carve(block, &used, (size_t)(m * n));
        c.U = carve(block, &used, (size_t)(m * m));
        c.S = carve(block, &used, (size_t)(m * m));
        c.G = carve(block, &used, (size_t)(n * n));
        c.right = carve(block, &used, (size_t)n);
        w = carve(block, &used, (size_t)(n * wide));
        f = carve(block, &used, (size_t)(n * wide));
        above = carve(block, &used, (size_t)(n * wide));
        below = carve(block, &used, (size_t)(m * wide));
        a = carve(block, &used, (size_t)(n * wide));
        mu = carve(block, &used, (size_t)(m * wide));
        for (int i = 0; i < 3; ++i) second[i] = carve(block, &used, (size_t)(slopes ? m * n + m : 0));
        for (int i = 0; i < 4; ++i) felt[i] = carve(block, &used, (size_t)(slopes ? n * n + n : 0));
        for (int i = 0; i < 2; ++i) pulled[i] = carve(block, &used, (size_t)(slopes ? n * n + n : 0));
    }
    call_kernel(of, known, MASS_MATRIX, &M);
    call_kernel(of, known, BIAS_FORCES, &h);
    call_kernel(of, known, JACOBIAN, &J);
    call_kernel(of, known, BIAS, &bias);
    c.M = M;
    c.J = J;
    for (int i = 0; i < n; ++i) h[i] = x[2][i] - h[i];
    for (int i = 0; i < m; ++i) bias[i] = -bias[i];
    find_sizes(n, m, of->row_unit, J, size);
    divide_rows(m, n, size, J);
    divide_rows(m, 1, size, bias);
    if (!factorise_closure(&c)) {
        if (block != few) free(block);
        return 1;
    }
    solve_closure(&c, 1, h, bias, y[0], y[1], w, f);
    if (leaves_rows(&c, y[0], bias)) {
        if (block != few) free(block);
        return 1;
    }
    divide_rows(m, 1, size, y[1]);
    if (slopes) {
        known[OF_QDD] = y[0];
        known[OF_MULTIPLIERS] = y[1];
        call_kernel(of, known, INVERSE_DYNAMICS, felt);
        call_kernel(of, known, TORQUE, pulled);
        call_kernel(of, known, ACCELERATION, second);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                above[i * wide + j] = pulled[1][i * n + j] - felt[1][i * n + j];
                above[i * wide + n + j] = -felt[2][i * n + j];
                above[i * wide + 2 * n + j] = i == j;
            }
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                below[i * wide + j] = -second[1][i * n + j];
                below[i * wide + n + j] = -second[2][i * n + j];
                below[i * wide + 2 * n + j] = 0.0;
            }
        divide_rows(m, wide, size, below);
        solve_closure(&c, wide, above, below, a, mu, w, f);
        divide_rows(m, wide, size, mu);
        for (int i = 0; i < m; ++i) {
            double share = 0.0;  /* 1 where the motion determines the multiplier */
            for (int k = 0; k < c.r; ++k) share += c.U[k * m + i] * c.U[k * m + i];
            if (!(share > 1.0 - RANK))
                for (int k = 0; k < wide; ++k) mu[i * wide + k] = NAN;
        }
        for (int k = 0; k < 3; ++k) {
            take_columns(n, n, k * n, a, y[2 + k]);
            take_columns(m, n, k * n, mu, y[5 + k]);
        }
    }
    if (block != few) free(block);
    return 0;
}

#endif
