#include "composites.h"
#include "calls.h"

#include "errors.h"
#include "frontend.h"

namespace tidemark::python {

namespace {

/// New reference to the type's `__tf_dispatch__`, or null without an error.
PyObject* dispatcher_of(PyObject* value) {
  static PyObject* const name = interned("__tf_dispatch__");
  PyObject* found = PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(value)), name);
  if (!found) PyErr_Clear();
  return found;
}

/// The first dispatcher of the value itself or of the items of a list or tuple.
Ref find_dispatcher(PyObject* value) {
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
    const PyTypeObject* before = nullptr;  // long lists are mostly of one type
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(value, i);
      if (Py_TYPE(item) == before) continue;
      before = Py_TYPE(item);
      if (PyObject* found = dispatcher_of(item)) return Ref::steal(found);
    }
    return Ref();
  }
  return Ref::steal(dispatcher_of(value));
}

Ref positional_tuple(PyObject* const* args, Py_ssize_t count) {
  Ref tuple = Ref::checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
  return tuple;
}

Ref keyword_dict(PyObject* const* values, PyObject* names) {
  Ref dict = Ref::checked(PyDict_New());
  const Py_ssize_t count = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    check(PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(names, i), values[i]));
  }
  return dict;
}

PyObject* ask(PyObject* function, PyObject* const* args, Py_ssize_t positional,
              PyObject* keywords) {
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < positional + named; ++i) {
    const Ref dispatcher = find_dispatcher(args[i]);
    if (!dispatcher) continue;
    const Ref tuple = positional_tuple(args, positional);
    const Ref dict = keyword_dict(args + positional, keywords);
    Ref answer = Ref::checked(call_object(dispatcher.get(), function, tuple.get(), dict.get()));
    if (answer.get() != Py_NotImplemented) return answer.release();
  }
  return nullptr;
}

}  // namespace

PyObject* answer_of_composites(PyObject* function, PyObject* const* args, Py_ssize_t positional,
                               PyObject* keywords) noexcept {
  return answer_instead_of_error([&] { return ask(function, args, positional, keywords); });
}

}  // namespace tidemark::python
