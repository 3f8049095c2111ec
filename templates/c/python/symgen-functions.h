/* The type of the functions that a compiled module offers to Python.
 *
 * They do what functions of Python do (keywords, errors in the same words, signatures, pickles, methods
 * of a class) and are called without tuples or dicts of arguments (PEP 590).
 *
 * This file is the same for every robot.  It is included after the header of Python and symgen-calls.h.
 */
#ifndef SYMGEN_FUNCTIONS_H
#define SYMGEN_FUNCTIONS_H

#include <structmember.h>

struct function {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    const struct symgen_signature *signature;
    symgen_body *body;
    int which;
    PyObject *names[SYMGEN_MOST];  /* interned */
    PyObject *name, *qualname, *module, *doc, *dict, *weak;
};

static PyObject *of_out, *of_packed;  /* interned */
static PyObject *signature_of;        /* of _runtime */

/* The number of the argument called `name`; SYMGEN_MOST: out, SYMGEN_MOST + 1: packed, -1: none. */
static int find(const struct function *f, PyObject *name)
{
    const int inputs = f->signature->inputs;
    for (int i = 0; i < inputs; ++i)
        if (f->names[i] == name) return i;
    if (name == of_out) return SYMGEN_MOST;
    if (name == of_packed && f->signature->packed) return SYMGEN_MOST + 1;
    for (int i = 0; i < inputs; ++i)
        if (PyUnicode_Compare(f->names[i], name) == 0) return i;
    if (PyUnicode_Compare(of_out, name) == 0) return SYMGEN_MOST;
    if (f->signature->packed && PyUnicode_Compare(of_packed, name) == 0) return SYMGEN_MOST + 1;
    return -1;
}

static void tell_too_many(const struct function *f, Py_ssize_t number)
{
    const int required = f->signature->required;
    PyErr_Format(PyExc_TypeError, "%U() takes %d positional argument%s but %zd %s given", f->name,
        required, required == 1 ? "" : "s", number, number == 1 ? "was" : "were");
}

/* As Python names them: 'q', 'qd' and 'qdd'. */
static void tell_missing(const struct function *f, PyObject *const *given)
{
    int missing = 0, told = 0;
    PyObject *names = PyUnicode_FromString("");
    for (int i = 0; i < f->signature->required; ++i) missing += !given[i];
    for (int i = 0; names && i < f->signature->required; ++i) {
        if (given[i]) continue;
        const char *const before = !told ? "" : told < missing - 1 ? ", " : missing > 2 ? ", and " : " and ";
        PyObject *const more = PyUnicode_FromFormat("%U%s%R", names, before, f->names[i]);
        Py_SETREF(names, more);
        ++told;
    }
    if (!names) return;
    PyErr_Format(PyExc_TypeError, "%U() missing %d required positional argument%s: %U", f->name,
        missing, missing == 1 ? "" : "s", names);
    Py_DECREF(names);
}

static int take_keywords(const struct function *f, PyObject *const *values, PyObject *keywords,
    PyObject **given, PyObject **out, int *packed)
{
    const Py_ssize_t number = PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < number; ++k) {
        PyObject *const name = PyTuple_GET_ITEM(keywords, k);
        const int place = find(f, name);
        if (place < 0) {
            PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'; it is called as %U(%s)",
                f->name, name, f->name, f->signature->text);
            return -1;
        }
        if (place == SYMGEN_MOST) {
            *out = values[k];
        } else if (place > SYMGEN_MOST) {
            *packed = PyObject_IsTrue(values[k]);
            if (*packed < 0) return -1;
        } else if (given[place]) {
            PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", f->name, name);
            return -1;
        } else {
            given[place] = values[k];
        }
    }
    return 0;
}

static PyObject *vectorcall(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *keywords)
{
    const struct function *const f = (struct function *)self;
    const int required = f->signature->required, inputs = f->signature->inputs;
    const Py_ssize_t number = PyVectorcall_NARGS(flags);
    PyObject *given[SYMGEN_MOST], *out = Py_None;
    int packed = 0, i;
    if (number > required) {
        tell_too_many(f, number);
        return 0;
    }
    for (i = 0; i < number; ++i) given[i] = arguments[i];
    for (; i < inputs; ++i) given[i] = 0;
    if (keywords && take_keywords(f, arguments + number, keywords, given, &out, &packed)) return 0;
    for (i = (int)number; i < inputs; ++i) {
        if (given[i]) continue;
        if (i < required) {
            tell_missing(f, given);
            return 0;
        }
        given[i] = Py_None;
    }
    return f->body(f->which, given, out, packed);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    struct function *const f = (struct function *)self;
    Py_VISIT(f->module);
    Py_VISIT(f->doc);
    Py_VISIT(f->dict);
    return 0;
}

static int clear(PyObject *self)
{
    struct function *const f = (struct function *)self;
    Py_CLEAR(f->dict);
    return 0;
}

static void dealloc(PyObject *self)
{
    struct function *const f = (struct function *)self;
    PyObject_GC_UnTrack(self);
    if (f->weak) PyObject_ClearWeakRefs(self);
    for (int i = 0; i < f->signature->inputs; ++i) Py_XDECREF(f->names[i]);
    Py_XDECREF(f->name);
    Py_XDECREF(f->qualname);
    Py_XDECREF(f->module);
    Py_XDECREF(f->doc);
    Py_XDECREF(f->dict);
    PyObject_GC_Del(self);
}

static PyObject *repr(PyObject *self)
{
    return PyUnicode_FromFormat("<compiled function %S at %p>", ((struct function *)self)->qualname, self);
}

/* By where it is found, as any function: what pickle and copy ask for. */
static PyObject *reduce(PyObject *self, PyObject *none)
{
    (void)none;
    return Py_NewRef(((struct function *)self)->qualname);
}

/* In a class it is a method, as any function. */
static PyObject *bound(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

static PyObject *signature(PyObject *self, void *none)
{
    (void)none;
    return PyObject_CallFunction(signature_of, "s", ((struct function *)self)->signature->text);
}

static PyMemberDef members[] = {
    {"__name__", T_OBJECT, offsetof(struct function, name), READONLY, 0},
    {"__qualname__", T_OBJECT, offsetof(struct function, qualname), 0, 0},
    {"__module__", T_OBJECT, offsetof(struct function, module), 0, 0},
    {"__doc__", T_OBJECT, offsetof(struct function, doc), 0, 0},
    {0, 0, 0, 0, 0},
};

static PyMethodDef function_methods[] = {
    {"__reduce__", reduce, METH_NOARGS, 0},
    {0, 0, 0, 0},
};

static PyGetSetDef attributes[] = {
    {"__signature__", signature, 0, 0, 0},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, 0, 0},
    {0, 0, 0, 0, 0},
};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(0, 0)
    .tp_name = "symgen.function",
    .tp_basicsize = sizeof(struct function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
        | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(struct function, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_repr = repr,
    .tp_descr_get = bound,
    .tp_methods = function_methods,
    .tp_members = members,
    .tp_getset = attributes,
    .tp_dictoffset = offsetof(struct function, dict),
    .tp_weaklistoffset = offsetof(struct function, weak),
};

PyObject *symgen_new_function(const struct symgen_signature *described, symgen_body *body, int which,
    PyObject *module, const char *of)
{
    struct function *const f = PyObject_GC_New(struct function, &function_type);
    if (!f) return 0;
    f->vectorcall = vectorcall;
    f->signature = described;
    f->body = body;
    f->which = which;
    f->dict = f->weak = 0;
    int missing = 0;
    for (int i = 0; i < described->inputs; ++i)
        missing |= !(f->names[i] = PyUnicode_InternFromString(described->names[i]));
    f->name = PyUnicode_InternFromString(described->name);
    f->qualname = PyUnicode_FromFormat("%s%s%s", of, *of ? "." : "", described->name);
    f->module = PyModule_GetNameObject(module);
    f->doc = PyUnicode_FromString(described->doc);
    PyObject_GC_Track(f);
    if (!missing && f->name && f->qualname && f->module && f->doc) return (PyObject *)f;
    Py_DECREF(f);
    return 0;
}

/* Before the first function is made; -1 and an exception where that fails. */
static int prepare_functions(void)
{
    of_out = PyUnicode_InternFromString("out");
    of_packed = PyUnicode_InternFromString("packed");
    return of_out && of_packed ? PyType_Ready(&function_type) : -1;
}

#endif
