/* The Python side of a compiled module: from NumPy arrays to kernels, whatever these are written in.
 *
 * A function takes the short way if all its arguments are ordinary arrays (float64, C-contiguous,
 * batch axes equal or absent), and otherwise hands them to _runtime.evaluate_rows, which returns
 * here with ordinary ones.
 *
 * Names of Python: a function that returns a PyObject * returns a new reference, or 0 with an
 * exception set.  This file is the same for every robot.
 */
#include "symgen-calls.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include "../symgen-results.h"
#include "symgen-functions.h"

enum {
    MOST = SYMGEN_MOST,
    FORMER = 2,
    SMALL = 16384,         /* numbers */
    MOST_BATCH_AXES = 64   /* of any NumPy array */
};

static const struct symgen_robot *robot = 0;
static struct symgen_called *functions = 0;
static int threads = 1;  /* of one call */
static PyObject *ready = 0;  /* the module, when it is complete */

/* Of _runtime and _signatures. */
static PyObject *evaluate_rows, *tell_singular, *number_of_link;
static PyObject *signatures, *packed_signatures, *links, *joint_links;
static PyObject *partial, *rows_function, *new_array_function;

/* ---- arguments ---- */

static inline const double *standard(const struct symgen_called *f, int i)
{
    if (i < f->signature->required) return 0;
    return i == f->signature->inputs - 1 ? f->default_parameters : f->zeros;
}

/* Whether `value` can be handed to a kernel as it is, but for its batch axes. */
static inline int is_ordinary(PyObject *value, const struct symgen_array *array, int writable)
{
    PyArrayObject *const given = (PyArrayObject *)value;
    if (!PyArray_CheckExact(value) || PyArray_TYPE(given) != NPY_DOUBLE) return 0;
    if (!(writable ? PyArray_ISCARRAY(given) : PyArray_ISCARRAY_RO(given))) return 0;
    const int extra = PyArray_NDIM(given) - array->axes;
    if (extra < 0) return 0;
    for (int axis = 0; axis < array->axes; ++axis)
        if (PyArray_DIMS(given)[extra + axis] != array->shape[axis]) return 0;
    return 1;
}

/* Whether the first `axes` axes of `given` are those of `batch`. */
static inline int has_batch(PyArrayObject *given, int axes, const struct symgen_batch *batch)
{
    if (axes != batch->axes) return 0;
    for (int axis = 0; axis < axes; ++axis)
        if (PyArray_DIMS(given)[axis] != batch->shape[axis]) return 0;
    return 1;
}

static inline int read_all(const struct symgen_called *f, PyObject *const *given,
    struct symgen_batch *batch, const double **x, ptrdiff_t *dx, double *number)
{
    const struct symgen_signature *const s = f->signature;
    batch->axes = 0;
    batch->shape = 0;
    batch->count = 1;
    for (int i = 0; i < s->inputs; ++i) {
        dx[i] = 0;
        if (given[i] == Py_None && standard(f, i)) {
            x[i] = standard(f, i);
            continue;
        }
        if (s->input[i].axes == 0 && PyFloat_Check(given[i])) {
            number[i] = PyFloat_AS_DOUBLE(given[i]);
            x[i] = &number[i];
            continue;
        }
        if (!is_ordinary(given[i], &s->input[i], 0)) return 0;
        PyArrayObject *const array = (PyArrayObject *)given[i];
        x[i] = PyArray_DATA(array);
        const int axes = PyArray_NDIM(array) - s->input[i].axes;
        if (axes == 0) continue;
        dx[i] = s->input[i].size;
        if (batch->axes == 0) {
            batch->axes = axes;
            batch->shape = PyArray_DIMS(array);
            for (int axis = 0; axis < axes; ++axis) batch->count *= batch->shape[axis];
        } else if (!has_batch(array, axes, batch)) {
            return 0;
        }
    }
    return 1;
}

int symgen_read(const struct symgen_called *f, PyObject *const *given, struct symgen_batch *batch,
    const double **x, ptrdiff_t *dx, double *number)
{
    return read_all(f, given, batch, x, dx, number);
}

/* ---- results ---- */

static PyObject *allocate(const struct symgen_array *array, const struct symgen_batch *batch)
{
    npy_intp shape[MOST_BATCH_AXES + SYMGEN_AXES];
    for (int axis = 0; axis < batch->axes; ++axis) shape[axis] = batch->shape[axis];
    for (int axis = 0; axis < array->axes; ++axis) shape[batch->axes + axis] = array->shape[axis];
    return new_result(batch->axes + array->axes, shape);
}

static inline int overlap(const double *x, ptrdiff_t m, const double *y, ptrdiff_t n)
{
    return m > 0 && n > 0 && x < y + n && y < x + m;
}

/* Whether a kernel can fill `out`, the result numbered k; sets y[k]. */
static int is_writable(const struct symgen_called *f, PyObject *out, int k,
    const struct symgen_batch *batch, const double *const *x, const ptrdiff_t *dx, double **y)
{
    const ptrdiff_t size = batch->count * f->output[k].size;
    PyArrayObject *const array = (PyArrayObject *)out;
    if (!is_ordinary(out, &f->output[k], 1)) return 0;
    if (!has_batch(array, PyArray_NDIM(array) - f->output[k].axes, batch)) return 0;
    y[k] = PyArray_DATA(array);
    for (int i = 0; i < f->signature->inputs; ++i)
        if (overlap(y[k], size, x[i], (dx[i] ? batch->count : 1) * f->signature->input[i].size))
            return 0;
    for (int i = 0; i < k; ++i)
        if (overlap(y[k], size, y[i], batch->count * f->output[i].size)) return 0;
    return 1;
}

static inline PyObject *part(const struct symgen_called *f, PyObject *results, int k)
{
    return f->signature->outputs == 1 ? results : PyTuple_GET_ITEM(results, k);
}

/* Whether nobody but this module has references to former results. */
static inline int is_unowned(const struct symgen_called *f, PyObject *results)
{
    if (Py_REFCNT(results) != 1) return 0;
    for (int k = 0; k < f->signature->outputs; ++k)
        if (Py_REFCNT(part(f, results, k)) != 1) return 0;
    return 1;
}

/* Whether unowned results are as they were made; sets y. */
static inline int are_free(const struct symgen_called *f, PyObject *results, double **y)
{
    for (int k = 0; k < f->signature->outputs; ++k) {
        PyObject *const array = part(f, results, k);
        if (!is_unseen(array) || !is_ordinary(array, &f->output[k], 1)) return 0;
        if (PyArray_NDIM((PyArrayObject *)array) != f->output[k].axes) return 0;
        y[k] = PyArray_DATA((PyArrayObject *)array);
    }
    return 1;
}

/* Keep the results of one sample, or nothing (0), instead of others. */
static void put(struct symgen_called *f, int place, PyObject *results)
{
    PyObject *const before = f->former[place];
    Py_XINCREF(results);
    f->former[place] = results;
    Py_XDECREF(before);  /* last: whatever ends now may call again */
}

/* Results of one sample that nobody sees any more; 0, without an exception, if there are none.
 *
 * Others that nobody owns are let go: what looks at them weakly is to see them end. */
static PyObject *former_results(struct symgen_called *f, double **y)
{
    PyObject *found = 0;
    for (int place = 0; place < FORMER; ++place) {
        PyObject *const former = f->former[place];
        if (!former || !is_unowned(f, former)) continue;
        if (!found && are_free(f, former, y)) {
            Py_INCREF(former);
            found = former;
        } else {
            put(f, place, 0);
        }
    }
    return found;
}

static inline PyObject *new_results(struct symgen_called *f, const struct symgen_batch *batch, double **y)
{
    const int outputs = f->signature->outputs, one = batch->axes == 0 && f->small;
    if (one && keeps_results()) {
        PyObject *const found = former_results(f, y);
        if (found) return found;
    }
    PyObject *results = outputs > 1 ? PyTuple_New(outputs) : 0;
    if (outputs > 1 && !results) return 0;
    for (int k = 0; k < outputs; ++k) {
        PyObject *const array = allocate(&f->output[k], batch);
        if (!array) {
            Py_XDECREF(results);
            return 0;
        }
        y[k] = PyArray_DATA((PyArrayObject *)array);
        if (outputs == 1) results = array;
        else PyTuple_SET_ITEM(results, k, array);
    }
    if (one) {
        const int place = f->oldest;
        f->oldest = (place + 1) % FORMER;
        put(f, place, keeps_results() ? results : 0);
    }
    return results;
}

PyObject *symgen_new_results(struct symgen_called *f, const struct symgen_batch *batch, double **y)
{
    return new_results(f, batch, y);
}

/* `out`, with new arrays for None; 0, without an exception, if it cannot take the results. */
static PyObject *given_results(const struct symgen_called *f, PyObject *out,
    const struct symgen_batch *batch, const double *const *x, const ptrdiff_t *dx, double **y)
{
    const int outputs = f->signature->outputs;
    int complete = 1;
    if (outputs == 1) {
        if (!is_writable(f, out, 0, batch, x, dx, y)) return 0;
        Py_INCREF(out);
        return out;
    }
    if (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != outputs) return 0;
    PyObject *const results = PyTuple_New(outputs);
    if (!results) return 0;
    for (int k = 0; k < outputs; ++k) {
        PyObject *array = PyTuple_GET_ITEM(out, k);
        if (array == Py_None) {
            complete = 0;
            array = allocate(&f->output[k], batch);
            if (array) y[k] = PyArray_DATA((PyArrayObject *)array);
        } else if (is_writable(f, array, k, batch, x, dx, y)) {
            Py_INCREF(array);
        } else {
            array = 0;
        }
        if (!array) {
            Py_DECREF(results);
            return 0;
        }
        PyTuple_SET_ITEM(results, k, array);
    }
    if (!complete) return results;
    Py_DECREF(results);
    Py_INCREF(out);
    return out;
}

/* ---- kernels ---- */

/* The kernel on every sample; the number of those without a solution. */
static ptrdiff_t compute(int which, ptrdiff_t count, const double **x, const ptrdiff_t *dx, double **y)
{
    const struct symgen_called *const f = &functions[which];
    ptrdiff_t singular = 0;
    if (robot->batch) return robot->batch(which, count, x, dx, y, threads);
    for (ptrdiff_t sample = 0; sample < count; ++sample) {
        singular += f->kernel(x, y);
        for (int i = 0; i < f->signature->inputs; ++i) x[i] += dx[i];
        for (int i = 0; i < f->signature->outputs; ++i) y[i] += f->output[i].size;
    }
    return singular;
}

/* The same in pieces between which Ctrl-C is heard; -1 and an exception where it was. */
static ptrdiff_t compute_all(int which, ptrdiff_t count, const double *const *x, const ptrdiff_t *dx,
    double *const *y)
{
    const struct symgen_called *const f = &functions[which];
    const double *part_of_x[MOST];
    double *part_of_y[MOST];
    ptrdiff_t singular = 0;
    for (ptrdiff_t done = 0; done < count;) {
        if (done && PyErr_CheckSignals()) return -1;
        ptrdiff_t number = f->most * threads;
        if (number > count - done) number = count - done;
        for (int i = 0; i < f->signature->inputs; ++i) part_of_x[i] = x[i] + done * dx[i];
        for (int i = 0; i < f->signature->outputs; ++i)
            part_of_y[i] = y[i] + done * f->output[i].size;
        Py_BEGIN_ALLOW_THREADS
        singular += compute(which, number, part_of_x, dx, part_of_y);
        Py_END_ALLOW_THREADS
        done += number;
    }
    return singular;
}

/* ---- calls ---- */

/* The long way: checks, and conversion to ordinary arrays. */
static PyObject *convert(int which, PyObject *const *given, PyObject *out)
{
    const struct symgen_signature *const s = functions[which].signature;
    PyObject *const tables = which < robot->functions ? signatures : packed_signatures;
    PyObject *const table = PyMapping_GetItemString(tables, s->name);
    PyObject *const run = PyObject_CallFunction(partial, "Oi", rows_function, which);
    PyObject *const arguments = PyTuple_New(s->inputs);
    PyObject *result = 0;
    if (table && run && arguments) {
        for (int i = 0; i < s->inputs; ++i) {
            Py_INCREF(given[i]);
            PyTuple_SET_ITEM(arguments, i, given[i]);
        }
        result = PyObject_CallFunctionObjArgs(
            evaluate_rows, table, run, arguments, out, new_array_function, NULL);
    }
    Py_XDECREF(table);
    Py_XDECREF(run);
    Py_XDECREF(arguments);
    return result;
}

/* An exception, or a warning, which may become one: -1. */
static int tell(int which, ptrdiff_t singular, ptrdiff_t count, int single)
{
    PyObject *const told = PyObject_CallFunction(
        tell_singular, "snni", functions[which].signature->name, (Py_ssize_t)singular, (Py_ssize_t)count, single);
    Py_XDECREF(told);
    return told ? 0 : -1;
}

static PyObject *number(int which, const double *const *x)
{
    double value, *y[1] = {&value};
    const double *of[MOST];
    for (int i = 0; i < functions[which].signature->inputs; ++i) of[i] = x[i];
    if (functions[which].kernel(of, y) && tell(which, 1, 1, 1)) return 0;
    return PyArray_Scalar(&value, float64, 0);
}

/* The function numbered `which`, of the arguments `given`. */
static PyObject *call(int which, PyObject *const *given, PyObject *out)
{
    struct symgen_called *const f = &functions[which];
    const double *x[MOST];
    ptrdiff_t dx[MOST];
    double *y[MOST], numbers[MOST];
    struct symgen_batch batch;
    PyObject *result;
    if (!read_all(f, given, &batch, x, dx, numbers)) return convert(which, given, out);
    if (out != Py_None) {
        result = given_results(f, out, &batch, x, dx, y);
        if (!result) return PyErr_Occurred() ? 0 : convert(which, given, out);
    } else if (batch.axes == 0 && f->signature->outputs == 1 && f->output[0].axes == 0) {
        return number(which, x);
    } else {
        result = new_results(f, &batch, y);
        if (!result) return 0;
    }
    const ptrdiff_t singular = batch.count == 1 ? f->kernel(x, y) : compute_all(which, batch.count, x, dx, y);
    if (singular && (singular < 0 || tell(which, singular, batch.count, batch.axes == 0)))
        Py_CLEAR(result);
    return result;
}

static PyObject *call_function(int which, PyObject *const *given, PyObject *out, int packed)
{
    return call(packed ? robot->entry[which].packed : which, given, out);
}

static PyObject *call_by_link(int which, PyObject *const *given, PyObject *out, int packed)
{
    PyObject *numbered[MOST];
    (void)packed;
    numbered[0] = PyObject_CallFunctionObjArgs(number_of_link, given[0], links, joint_links, NULL);
    if (!numbered[0]) return 0;
    for (int i = 1; i < functions[which].signature->inputs; ++i) numbered[i] = given[i];
    PyObject *const result = call(which, numbered, out);
    Py_DECREF(numbered[0]);
    return result;
}

/* ---- functions of the module ---- */

/* Run a kernel on ordinary arrays; the number of samples without a solution. */
static PyObject *rows(PyObject *self, PyObject *arguments)
{
    int which;
    PyObject *inputs, *outputs, *given[MOST];
    const double *x[MOST];
    ptrdiff_t dx[MOST];
    double *y[MOST], numbers[MOST];
    struct symgen_batch batch;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iO!O!", &which, &PyList_Type, &inputs, &PyList_Type, &outputs)) return 0;
    if (which < 0 || which >= robot->entries) {
        PyErr_SetString(PyExc_RuntimeError, "symgen: no such function");
        return 0;
    }
    const struct symgen_called *const f = &functions[which];
    if (PyList_GET_SIZE(inputs) != f->signature->inputs || PyList_GET_SIZE(outputs) != f->signature->outputs) {
        PyErr_SetString(PyExc_RuntimeError, "symgen: wrong number of arrays");
        return 0;
    }
    for (int i = 0; i < f->signature->inputs; ++i) given[i] = PyList_GET_ITEM(inputs, i);
    PyObject *const out = f->signature->outputs > 1 ? PyList_AsTuple(outputs) : Py_NewRef(PyList_GET_ITEM(outputs, 0));
    if (!out) return 0;
    PyObject *const filled = read_all(f, given, &batch, x, dx, numbers)
        ? given_results(f, out, &batch, x, dx, y) : 0;
    Py_DECREF(out);
    if (!filled) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "symgen: not an ordinary array");
        return 0;
    }
    const ptrdiff_t singular = compute_all(which, batch.count, x, dx, y);
    Py_DECREF(filled);
    return singular < 0 ? 0 : PyLong_FromSsize_t(singular);
}

/* An array of float64 for a result. */
static PyObject *new_array(PyObject *self, PyObject *arguments)
{
    PyObject *shape, *dtype;
    npy_intp lengths[MOST_BATCH_AXES + SYMGEN_AXES];
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &shape, &dtype)) return 0;
    const Py_ssize_t axes = PyTuple_GET_SIZE(shape);
    if (axes > MOST_BATCH_AXES) {
        PyErr_SetString(PyExc_ValueError, "symgen: too many axes");
        return 0;
    }
    for (Py_ssize_t axis = 0; axis < axes; ++axis) {
        lengths[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
        if (lengths[axis] == -1 && PyErr_Occurred()) return 0;
    }
    return new_result((int)axes, lengths);
}

static PyObject *set_threads(PyObject *self, PyObject *number_of_threads)
{
    (void)self;
    const long wanted = PyLong_AsLong(number_of_threads);
    if (wanted == -1 && PyErr_Occurred()) return 0;
    if (robot->batch) threads = (int)wanted;
    Py_RETURN_NONE;
}

static int prepare(int width)
{
    const int found = robot->prepare ? robot->prepare(width) : 1;
    for (int which = 0; which < robot->entries; ++which) functions[which].kernel = robot->single(which);
    return found;
}

static PyObject *choose(PyObject *self, PyObject *width)
{
    (void)self;
    const long wanted = PyLong_AsLong(width);
    if (wanted == -1 && PyErr_Occurred()) return 0;
    return PyLong_FromLong(prepare((int)wanted));
}

static PyObject *memory_kept(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromSize_t(result_memory ? result_memory->kept() : 0);
}

static PyObject *memory_most(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromSize_t(result_memory ? result_memory->most() : 0);
}

static PyObject *set_memory(PyObject *self, PyObject *arguments)
{
    unsigned long long most;
    int under_limits;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Kp", &most, &under_limits)) return 0;
    if (result_memory) result_memory->set_most((size_t)most, under_limits);
    Py_RETURN_NONE;
}

static PyObject *memory_is_set(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyBool_FromLong(result_memory && result_memory->is_set());
}

static PyMethodDef methods[] = {
    {"rows", rows, METH_VARARGS, "Run a kernel on ordinary arrays; the number of samples without a solution."},
    {"new_array", new_array, METH_VARARGS, "An array of float64 for a result."},
    {"set_threads", set_threads, METH_O, "At most so many threads for one call."},
    {"result_memory_kept", memory_kept, METH_NOARGS, "Bytes that are kept for new results, in all modules together."},
    {"result_memory", memory_most, METH_NOARGS, "At most so many, at this moment."},
    {"set_result_memory", set_memory, METH_VARARGS,
     "Keep at most so many bytes; also where the memory of this process is limited?"},
    {"result_memory_is_set", memory_is_set, METH_NOARGS, "Whether any module has said yet how much is kept."},
    {0, 0, 0, 0},
};

static PyMethodDef with_versions[] = {
    {"choose", choose, METH_O,
     "Take the version of the kernels for so many samples at once, 0 for the widest there is.\n\n"
     "Returns the width, 0 where this processor or this binary has none."},
    {0, 0, 0, 0},
};

/* ---- the beginning ---- */

symgen_function symgen_kernel_of(const char *name, const struct symgen_signature **found)
{
    for (int which = 0; which < robot->functions; ++which) {
        if (strcmp(functions[which].signature->name, name)) continue;
        *found = functions[which].signature;
        return functions[which].kernel;
    }
    return 0;
}

static int describe(void)
{
    functions = PyMem_Calloc((size_t)robot->entries + 1, sizeof *functions);
    if (!functions) {
        PyErr_NoMemory();
        return -1;
    }
    for (int which = 0; which < robot->entries; ++which) {
        struct symgen_called *const f = &functions[which];
        ptrdiff_t size = 0;
        f->signature = robot->entry[which].signature;
        f->output = which < robot->functions ? f->signature->output : f->signature->packed;
        f->zeros = robot->zeros;
        f->default_parameters = robot->default_parameters;
        f->most = robot->entry[which].most;
        for (int i = 0; i < f->signature->outputs; ++i) size += f->output[i].size;
        f->small = size <= SMALL;
    }
    prepare(0);
    return 0;
}

/* `name` of the module `from` beside this one. */
static PyObject *beside(PyObject *module, const char *from, const char *name)
{
    PyObject *const names = Py_BuildValue("(s)", name);
    PyObject *const source = names
        ? PyImport_ImportModuleLevel(from, PyModule_GetDict(module), 0, names, 1) : 0;
    PyObject *const found = source ? PyObject_GetAttrString(source, name) : 0;
    Py_XDECREF(names);
    Py_XDECREF(source);
    return found;
}

static int goes_by_link(void)
{
    for (int which = 0; which < robot->functions; ++which)
        if (functions[which].signature->by_link) return 1;
    return 0;
}

static int import_all(PyObject *module)
{
    PyObject *const functools = PyImport_ImportModule("functools");
    partial = functools ? PyObject_GetAttrString(functools, "partial") : 0;
    Py_XDECREF(functools);
    if (!partial || !(evaluate_rows = beside(module, "_runtime", "evaluate_rows"))
        || !(tell_singular = beside(module, "_runtime", "tell_singular"))
        || !(number_of_link = beside(module, "_runtime", "number_of_link"))
        || !(signature_of = beside(module, "_runtime", "signature_of"))
        || !(signatures = beside(module, "_signatures", "SIGNATURES"))
        || !(packed_signatures = beside(module, "_signatures", "PACKED"))
        || !(joint_links = beside(module, "_signatures", "JOINT_LINKS"))
        || (goes_by_link() && !(links = beside(module, "_signatures", "LINKS")))
        || !(rows_function = PyObject_GetAttrString(module, "rows"))
        || !(new_array_function = PyObject_GetAttrString(module, "new_array")))
        return -1;
    return 0;
}

/* A class with the functions of a formulation. */
static int add_formulation(PyObject *module, const struct symgen_formulation *formulation)
{
    PyObject *const held = PyDict_New();
    for (int which = formulation->first; held && which < formulation->end; ++which) {
        const struct symgen_signature *const s = robot->entry[which].signature;
        PyObject *const function = symgen_new_function(
            s, s->by_link ? call_by_link : call_function, which, module, formulation->name);
        PyObject *const alone = function ? PyStaticMethod_New(function) : 0;
        const int failed = !alone || PyDict_SetItemString(held, s->name, alone);
        Py_XDECREF(function);
        Py_XDECREF(alone);
        if (failed) {
            Py_DECREF(held);
            return -1;
        }
    }
    if (!held) return -1;
    PyObject *const made = PyObject_CallFunction((PyObject *)&PyType_Type, "s(O)N", formulation->name, &PyBaseObject_Type, held);
    const int failed = !made || PyModule_AddObjectRef(module, formulation->name, made);
    Py_XDECREF(made);
    return failed ? -1 : 0;
}

PyObject *symgen_new_module(PyObject *spec)
{
    static int64_t owner = -1;
    const int64_t current = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (owner == -1) owner = current;
    if (owner != current) {
        PyErr_SetString(PyExc_ImportError, "symgen: a compiled module serves one interpreter of a process");
        return 0;
    }
    if (ready) return Py_NewRef(ready);
    PyObject *const name = PyObject_GetAttrString(spec, "name");
    PyObject *const module = name ? PyModule_NewObject(name) : 0;
    Py_XDECREF(name);
    return module;
}

int symgen_add_functions(PyObject *module, const struct symgen_robot *described)
{
    if (module == ready) return 0;
    robot = described;
    if (_import_array() < 0) return -1;
    float64 = PyArray_DescrFromType(NPY_DOUBLE);
    if (find_result_memory() || describe() || prepare_functions()
        || PyModule_AddFunctions(module, methods)
        || (robot->prepare && PyModule_AddFunctions(module, with_versions)) || import_all(module))
        return -1;
    for (int i = 0; i < robot->formulations; ++i)
        if (add_formulation(module, &robot->formulation[i])) return -1;
    Py_XSETREF(ready, Py_NewRef(module));
    return 0;
}
