/* Motions of mechanisms, called from Python: steps in time (symgen-mechanism.h), and accelerations
 * where the loops stay closed (symgen-constrained.h).
 *
 * This file is the same for every robot.
 */
#include "symgen-motions.h"

#include <stdlib.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

static const struct symgen_motions *robot = 0;
static struct symgen_mechanism mechanism;

/* What kernels take, in the order of the table in symgen-mechanism.h. */
static const char *const NAMES[QUANTITIES] = {
    "q", "qd", "qdd", "tau", "constraint_multipliers", "t", "loads", "parameters",
    "motion_multipliers"};

static PyObject *refused(const char *why)
{
    PyErr_Format(PyExc_RuntimeError, "symgen: %s", why);
    return 0;
}

/* Those kernels that the version of the processor has; the others stay without one. */
static int find_kernels(void)
{
    for (int call = 0; call < CALLS; ++call) {
        struct symgen_call *const c = &mechanism.call[call];
        const struct symgen_signature *s;
        c->kernel = symgen_kernel_of(robot->calls[call], &s);
        if (!c->kernel) continue;
        c->inputs = s->inputs;
        if (s->inputs > MOST_CALL_INPUTS) {
            refused("too many arguments");
            return -1;
        }
        for (int i = 0; i < s->inputs; ++i) {
            int which = 0;
            while (which < QUANTITIES && strcmp(NAMES[which], s->names[i])) ++which;
            if (which == QUANTITIES) {
                refused("an argument that no motion has");
                return -1;
            }
            c->input[i] = which;
        }
    }
    return 0;
}

/* ---- steps ---- */

/* The data of an array of so many float64; 0 and an exception where it is another. */
static double *numbers_of(PyObject *array, ptrdiff_t size)
{
    PyArrayObject *const given = (PyArrayObject *)array;
    if (!PyArray_CheckExact(array) || PyArray_TYPE(given) != NPY_DOUBLE || !PyArray_ISCARRAY(given)) {
        refused("not an ordinary array");
        return 0;
    }
    if (PyArray_SIZE(given) != size) {
        refused("wrong number of entries");
        return 0;
    }
    return PyArray_DATA(given);
}

/* The call that a motion needs and that was not built; CALLS: there is none. */
static int missing_call(int parameters, int objectives)
{
    const int ends = !parameters ? ACCELERATION : mechanism.p ? OUTPUTS : INVERSE_DYNAMICS_P;
    const int of_objectives = parameters ? OUTPUTS_SLOPES : OUTPUTS;
    for (int call = 0; call < ends; ++call)
        if (!mechanism.call[call].kernel) return call;
    if (mechanism.velocities && !mechanism.call[RATE_SLOPES].kernel) return RATE_SLOPES;
    if (objectives && !mechanism.call[of_objectives].kernel) return of_objectives;
    if (!objectives || !parameters || !mechanism.tells) return CALLS;
    return mechanism.call[OUTPUTS_MULTIPLIERS].kernel ? CALLS : OUTPUTS_MULTIPLIERS;
}

/* The entries of a tuple of whole numbers. */
static int take_numbers(PyObject *numbers, int *into)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); ++i) {
        into[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(numbers, i));
        if (into[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

static PyObject *advance(PyObject *self, PyObject *arguments)
{
    struct symgen_request request = {0};
    PyObject *P, *tau, *loads, *parameters, *parameter, *objective, *state, *integrals;
    double t, h, left_over = 0.0, *at, *sums;
    long steps, done = 0, halved = 0;
    const ptrdiff_t n = mechanism.n, m = mechanism.m;
    int failed, missing;
    (void)self;
    if (!PyArg_ParseTuple(
            arguments, "dipOOOOO!O!ddlOO", &request.penalty, &request.projections, &request.tangent, &P, &tau,
            &loads, &parameters, &PyTuple_Type, &parameter, &PyTuple_Type, &objective, &t, &h, &steps, &state,
            &integrals)
        || find_kernels())
        return 0;
    const ptrdiff_t s = PyTuple_GET_SIZE(parameter), k = PyTuple_GET_SIZE(objective);
    if ((missing = missing_call(s > 0, k > 0)) < CALLS)
        return PyErr_Format(PyExc_RuntimeError, "symgen: %s was not built", robot->calls[missing]);
    request.s = (int)s;
    request.objectives = (int)k;
    if (P != Py_None && !(request.P = numbers_of(P, n * n))) return 0;
    if (!(request.tau = numbers_of(tau, n)) || !(request.loads = numbers_of(loads, mechanism.loads))
        || !(request.parameters = numbers_of(parameters, mechanism.p))
        || !(at = numbers_of(state, mechanism.nq + 2 * n + 3 * m + 3 * (n + m) * s)) || !(sums = numbers_of(integrals, k * (1 + s))))
        return 0;
    int *const chosen = malloc(sizeof *chosen * (size_t)(s + k + 1));
    if (!chosen) return PyErr_NoMemory();
    if (take_numbers(parameter, chosen) || take_numbers(objective, chosen + s)) {
        free(chosen);
        return 0;
    }
    request.parameter = chosen;
    request.objective = chosen + s;
    Py_BEGIN_ALLOW_THREADS
    failed = robot->advance(&mechanism, &request, t, h, steps, at, sums, &done, &halved, &left_over);
    Py_END_ALLOW_THREADS
    free(chosen);
    return failed ? PyErr_NoMemory() : Py_BuildValue("lld", done, halved, left_over);
}

/* ---- accelerations ---- */

static struct symgen_called closed[2];  /* without and with derivatives, as if they were generated */
static struct symgen_array inputs[6], outputs[8];
static PyObject *long_way[2], *record[2], *warn_of_gaps;
static unsigned long calls[2];

#define CLOSED_NAMES {"q", "qd", "tau", "t", "loads", "parameters"}
#define CLOSED_TEXT "q, qd, tau, *, t=0.0, loads=None, parameters=None"
static const struct symgen_signature CLOSED[2] = {
    {"constrained_forward_dynamics", CLOSED_TEXT, "", CLOSED_NAMES, 3, 6, 2, 0, inputs, outputs, 0},
    {"constrained_forward_dynamics_derivatives", CLOSED_TEXT, "", CLOSED_NAMES, 3, 6, 8, 0, inputs, outputs, 0},
};

static struct symgen_array array(int axes, ptrdiff_t first, ptrdiff_t second)
{
    const struct symgen_array made = {
        axes, (axes > 0 ? first : 1) * (axes > 1 ? second : 1), {axes > 0 ? first : 0, axes > 1 ? second : 0}};
    return made;
}

static void describe(void)
{
    const ptrdiff_t n = robot->n, m = robot->m;
    const struct symgen_array in[] = {
        array(1, robot->nq, 0), array(1, n, 0), array(1, n, 0), array(0, 0, 0),
        array(2, robot->loads / 6, 6), array(1, robot->p, 0)};
    const struct symgen_array out[] = {
        array(1, n, 0), array(1, m, 0), array(2, n, n), array(2, n, n), array(2, n, n),
        array(2, m, n), array(2, m, n), array(2, m, n)};
    memcpy(inputs, in, sizeof in);
    memcpy(outputs, out, sizeof out);
    for (int which = 0; which < 2; ++which) {
        struct symgen_called *const f = &closed[which];
        f->signature = &CLOSED[which];
        f->output = outputs;
        f->zeros = robot->zeros;
        f->default_parameters = robot->default_parameters;
        f->most = 8;
        f->small = 1;
    }
}

/* The same in Python, for what is not ordinary. */
static PyObject *in_python(int which, PyObject *const *given)
{
    static const char *const options[] = {"t", "loads", "parameters"};
    PyObject *const arguments = PyTuple_Pack(3, given[0], given[1], given[2]);
    PyObject *const named = PyDict_New();
    PyObject *result = 0;
    int failed = !arguments || !named;
    for (int i = 0; !failed && i < 3; ++i)
        if (given[3 + i] != Py_None) failed = PyDict_SetItemString(named, options[i], given[3 + i]);
    if (!failed) result = PyObject_Call(long_way[which], arguments, named);
    Py_XDECREF(arguments);
    Py_XDECREF(named);
    return result;
}

static int compute_all(int which, ptrdiff_t count, const double **x, const ptrdiff_t *dx, double **y)
{
    for (ptrdiff_t sample = 0; sample < count; ++sample) {
        if (robot->constrained(&mechanism, x, y, which)) return 1;
        for (int i = 0; i < CLOSED[which].inputs; ++i) x[i] += dx[i];
        for (int i = 0; i < CLOSED[which].outputs; ++i) y[i] += outputs[i].size;
    }
    return 0;
}

/* Looks whether the loops are closed, in the calls 1, 2, 4, 8, ...; -1 where the warning is an exception. */
static int look_for_gaps(int which, PyObject *const *given)
{
    if (++calls[which] & (calls[which] - 1)) return 0;
    PyObject *const none = PyObject_CallFunction(
        warn_of_gaps, "sOOOO", CLOSED[which].name, given[0], given[1], given[3], given[5]);
    Py_XDECREF(none);
    return none ? 0 : -1;
}

/* A named tuple of the results, made as tuples are, without a call. */
static PyObject *as_record(int which, PyObject *results)
{
    const int size = CLOSED[which].outputs;
    PyObject *const made = PyType_GenericAlloc((PyTypeObject *)record[which], size);
    for (int k = 0; made && k < size; ++k)
        PyTuple_SET_ITEM(made, k, Py_NewRef(PyTuple_GET_ITEM(results, k)));
    return made;
}

static PyObject *call_closed(int which, PyObject *const *given, PyObject *out, int packed)
{
    const double *x[SYMGEN_MOST];
    ptrdiff_t dx[SYMGEN_MOST];
    double *y[SYMGEN_MOST], numbers[SYMGEN_MOST];
    struct symgen_batch batch;
    int failed;
    (void)packed;
    (void)out;
    if (!symgen_read(&closed[which], given, &batch, x, dx, numbers)) return in_python(which, given);
    if (look_for_gaps(which, given)) return 0;
    PyObject *const results = symgen_new_results(&closed[which], &batch, y);
    if (!results) return 0;
    if (batch.count == 1) {
        failed = robot->constrained(&mechanism, x, y, which);
    } else {
        Py_BEGIN_ALLOW_THREADS
        failed = compute_all(which, batch.count, x, dx, y);
        Py_END_ALLOW_THREADS
    }
    PyObject *const made = failed ? in_python(which, given) : as_record(which, results);
    Py_DECREF(results);
    return made;
}

/* Whether there are the kernels for it. */
static int is_complete(void)
{
    for (int call = 0; call < CALLS; ++call) {
        const int needed = call < RATE_SLOPES || call == MASS_MATRIX || call == BIAS_FORCES;
        if (needed && !mechanism.call[call].kernel) return 0;
    }
    return 1;
}

/* The same functions in Python, for what is not ordinary, the named tuples that results are, and the
 * function that warns of open loops.  Whether there are the kernels for it. */
static PyObject *connect(PyObject *self, PyObject *arguments)
{
    (void)self;
    PyObject *ways, *records, *warn;
    if (!PyArg_ParseTuple(arguments, "OOO", &ways, &records, &warn) || find_kernels()) return 0;
    Py_XSETREF(warn_of_gaps, Py_NewRef(warn));
    for (int which = 0; which < 2; ++which) {
        calls[which] = 0;
        Py_XSETREF(long_way[which], PySequence_GetItem(ways, which));
        Py_XSETREF(record[which], PySequence_GetItem(records, which));
        if (!long_way[which] || !record[which]) return 0;
    }
    return PyBool_FromLong(is_complete());
}

/* ---- the beginning ---- */

static PyMethodDef methods[] = {
    {"advance_mechanism", advance, METH_VARARGS,
     "Steps of size h by ALI3-P; `state` and `integrals` become those at their end.\n\n"
     "Returns the number of steps that were made, how many were halved, and the last correction of one\n"
     "that does not converge."},
    {"connect_mechanism", connect, METH_VARARGS,
     "The same in Python, for what is not ordinary, the named tuples that results are, and the function\n"
     "that warns of open loops.\n\n"
     "Whether there are the kernels for it."},
    {0, 0, 0, 0},
};

int symgen_add_motions(PyObject *module, const struct symgen_motions *motions)
{
    robot = motions;
    if (_import_array() < 0) return -1;
    mechanism.n = robot->n;
    mechanism.nq = robot->nq;
    mechanism.joints = robot->joints;
    mechanism.joint = robot->joint;
    mechanism.m = robot->m;
    mechanism.row_unit = robot->row_unit;
    mechanism.velocity_row = robot->velocity_row;
    for (int i = 0; i < robot->m; ++i) mechanism.velocities |= robot->velocity_row[i];
    mechanism.p = robot->p;
    mechanism.loads = robot->loads;
    mechanism.outputs = robot->outputs;
    mechanism.tells = robot->tells;
    describe();
    if (PyModule_AddFunctions(module, methods)) return -1;
    for (int which = 0; which < 2; ++which) {
        PyObject *const function = symgen_new_function(&CLOSED[which], call_closed, which, module, "");
        const int failed = !function || PyModule_AddObjectRef(module, CLOSED[which].name, function);
        Py_XDECREF(function);
        if (failed) return -1;
    }
    return 0;
}
