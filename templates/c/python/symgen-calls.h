/* Calls from Python: what the C of symgen-calls.c is told of a robot, and what it offers.
 *
 * A robot is described by tables: for every function the names and shapes of its arguments and
 * results, and where its kernel is.  What a call does with them is the same for every robot and
 * backend.
 *
 * This file is the same for every robot.
 */
#ifndef SYMGEN_CALLS_H
#define SYMGEN_CALLS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>

#ifndef SYMGEN_FUNCTION
#define SYMGEN_FUNCTION
typedef int (*symgen_function)(const double **x, double **y);
#endif

/* An extension module has its own copy of all this, even if others share their names with it. */
#ifdef __GNUC__
#define SYMGEN_HIDDEN __attribute__((visibility("hidden")))
#else
#define SYMGEN_HIDDEN
#endif

enum { SYMGEN_AXES = 4, SYMGEN_MOST = 16 };  /* of one sample; arguments, or results, of a function */

struct symgen_array {  /* an argument or result: the shape of one sample */
    int axes;
    ptrdiff_t size, shape[SYMGEN_AXES];
};

/* A function, whatever computes it.  Arguments from `required` on are options: 0 unless they are
 * given, and the last one the parameters of the model. */
struct symgen_signature {
    const char *name;
    const char *text;                   /* between the parentheses of its definition */
    const char *doc;
    const char *names[SYMGEN_MOST];     /* of arguments */
    int required, inputs, outputs;
    int by_link;                        /* is the first one the name of a link? */
    const struct symgen_array *input, *output;
    const struct symgen_array *packed;  /* the results without what is always 0; none: not offered */
};

struct symgen_entry {
    const struct symgen_signature *signature;
    int packed;      /* number of the entry with packed results, which follow all others; 0: none */
    ptrdiff_t most;  /* samples that a thread computes at once, whole vectors */
};

struct symgen_formulation {
    const char *name;
    int first, end;  /* of its entries */
};

struct symgen_robot {
    int formulations, functions, entries;  /* with `functions` begin the packed ones */
    const struct symgen_formulation *formulation;
    const struct symgen_entry *entry;
    const double *default_parameters;
    const double *zeros;                   /* as many as the largest option has */
    int (*prepare)(int width);             /* these three as in <robot>_batch.h */
    symgen_function (*single)(int which);
    ptrdiff_t (*batch)(int which, ptrdiff_t count, const double *const *x, const ptrdiff_t *dx,
                       double *const *y, int threads);
};

/* The module of the import `spec`, new or the one that there is: its functions have one set of data. */
SYMGEN_HIDDEN PyObject *symgen_new_module(PyObject *spec);

/* Give `module` everything that users call; -1 and an exception where that fails.  A backend without
 * versions has no `prepare`, one whose batches are sample after sample no `batch`. */
SYMGEN_HIDDEN int symgen_add_functions(PyObject *module, const struct symgen_robot *robot);

/* ---- for what else has arguments and results: see symgen-motions.c ---- */

/* The batch axes that the arguments of a call share. */
struct symgen_batch {
    int axes;
    const ptrdiff_t *shape;
    ptrdiff_t count;
};

/* A function as calls see it. */
struct symgen_called {
    const struct symgen_signature *signature;
    const struct symgen_array *output;
    symgen_function kernel;
    const double *zeros, *default_parameters;
    ptrdiff_t most;
    int small;            /* results of one sample, so that some are kept */
    int oldest;           /* of them */
    PyObject *former[2];  /* one may still be seen while the next is made */
};

/* Find the data of all arguments, their steps from sample to sample, and the batch axes; 0 where one
 * of them is no ordinary array.  A Python float is kept in `number`. */
SYMGEN_HIDDEN int symgen_read(const struct symgen_called *f, PyObject *const *given,
    struct symgen_batch *batch, const double **x, ptrdiff_t *dx, double *number);

/* New arrays for the results, whose data are y. */
SYMGEN_HIDDEN PyObject *symgen_new_results(struct symgen_called *f, const struct symgen_batch *batch, double **y);

/* What a call of `self` computes, of checked arguments: a new reference. */
typedef PyObject *symgen_body(int which, PyObject *const *given, PyObject *out, int packed);

/* A function of Python. */
SYMGEN_HIDDEN PyObject *symgen_new_function(const struct symgen_signature *signature, symgen_body *body,
    int which, PyObject *module, const char *of);

/* The kernel of the first function called `name`, and its signature; 0 where there is none. */
SYMGEN_HIDDEN symgen_function symgen_kernel_of(const char *name, const struct symgen_signature **signature);

#endif
