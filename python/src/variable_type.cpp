#include "variable_type.h"
#include "calls.h"

#include <structmember.h>

#include <new>
#include <vector>

#include "tidemark/graph/donated.h"
#include "tidemark/tensor/trainable.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "op_call.h"
#include "tensor_type.h"

namespace tidemark::python {

PyTypeObject* variable_type = nullptr;

namespace {

PyVariable* self_of(PyObject* object) { return reinterpret_cast<PyVariable*>(object); }

PyObject* new_variable(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object) new (&self_of(object)->value) Variable();
  return object;
}

void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self_of(object)->weakrefs) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self_of(object)->dict);
  self_of(object)->value.~Variable();
  type->tp_free(object);
  Py_DECREF(type);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->dict);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(self_of(object)->dict);
  return 0;
}

Py_hash_t hash(PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Variable is unhashable. Instead, use variable.ref() as the key.");
  return -1;
}

/// _create(initial, name, trainable, shape or None)
PyObject* create(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *initial = nullptr, *shape = nullptr;
    const char* name = nullptr;
    int trainable = 0;
    if (!PyArg_ParseTuple(args, "OspO:_create", &initial, &name, &trainable, &shape)) {
      throw PythonError{};
    }
    const MakingConstant making;
    VariableOptions options{name, trainable != 0, std::nullopt};
    if (shape != Py_None) {
      const Ref known = Ref::checked(PyObject_GetAttrString(shape, "rank"));
      options.shape = known.get() == Py_None ? Shape::unknown() : shape_from_object(shape);
    }
    self_of(self)->value = Variable(to_tensor(initial, {}), std::move(options));
    Py_RETURN_NONE;
  });
}

PyObject* get_operand(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* { return wrap(operand_of(self)); });
}

PyObject* read(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* { return wrap(reading_of(self)); });
}

template <void (Variable::*Update)(const Tensor&)>
PyObject* assign(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    const MakingConstant making;
    Variable variable = variable_of(self);
    const Tensor given = to_tensor(value, {variable.dtype(), false});
    if (graph::is_donated(given)) check_has_value(given, "assigning");
    (variable.*Update)(given);
    Py_RETURN_NONE;
  });
}

/// _update(op_name, inputs after the value, attributes in order=())
PyObject* update(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const char* op = nullptr;
    PyObject *inputs = nullptr, *values = nullptr;
    if (!PyArg_ParseTuple(args, "sO!|O!:_update", &op, &PyTuple_Type, &inputs, &PyTuple_Type,
                          &values)) {
      throw PythonError{};
    }
    const MakingConstant making;
    const OpDef& definition = OpRegistry::instance().get(op);
    std::vector<Attr> attrs = default_attrs(definition);
    const auto given = static_cast<size_t>(values ? PyTuple_GET_SIZE(values) : 0);
    for (size_t i = 0; i < given && i < attrs.size(); ++i) {
      const auto index = static_cast<size_t>(definition.attrs()[i]);
      attrs[i] = attr_from_object(definition, definition.params()[index],
                                  PyTuple_GET_ITEM(values, static_cast<Py_ssize_t>(i)));
    }
    std::vector<Tensor> rest;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
      rest.push_back(to_tensor(PyTuple_GET_ITEM(inputs, i), {}));
    }
    Variable variable = variable_of(self);
    variable.update(op, rest, attrs);
    Py_RETURN_NONE;
  });
}

/// Of an object that stands for another variable, as packages write them, the error has Python ask
/// its `__getattr__`.
const Variable& told_of(PyObject* self) {
  const Variable& variable = self_of(self)->value;
  if (!variable) {
    raise(PyExc_AttributeError, "the variable has no value yet: call Variable.__init__");
  }
  return variable;
}

PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return dtype_object(told_of(self).dtype()); });
}
PyObject* get_shape(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const Shape& shape = told_of(self).shape();
    if (shape.has_rank()) return shape_object(shape);
    const Ref known = Ref::checked(shape_object(Shape{}));
    return call_object(reinterpret_cast<PyObject*>(Py_TYPE(known.get())), Py_None);
  });
}
PyObject* get_trainable(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return PyBool_FromLong(told_of(self).trainable() ? 1 : 0); });
}
PyObject* set_trainable_later(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    const int wanted = PyObject_IsTrue(value);
    if (wanted < 0) throw PythonError{};
    set_trainable(told_of(self).id(), wanted != 0);
    Py_RETURN_NONE;
  });
}
PyObject* get_id(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return PyLong_FromUnsignedLongLong(told_of(self).id()); });
}
PyObject* get_is_made(PyObject* self, void*) {
  return PyBool_FromLong(self_of(self)->value ? 1 : 0);
}

PyGetSetDef properties[] = {
    {"dtype", get_dtype, nullptr, "The `DType` of the elements.", nullptr},
    {"shape", get_shape, nullptr, "The `TensorShape` of what may be assigned.", nullptr},
    {"trainable", get_trainable, nullptr, "Whether tapes watch it by themselves.", nullptr},
    {"_id", get_id, nullptr, "Tells the variable apart.", nullptr},
    {"_is_made", get_is_made, nullptr, "Whether it has a value.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyVariable, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyVariable, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef methods[] = {
    {"_create", create, METH_VARARGS, "Gives the variable its value."},
    {"_set_trainable", set_trainable_later, METH_O, "Whether tapes watch it from now on."},
    {"_operand", get_operand, METH_NOARGS, "The value, standing for the variable."},
    {"value", read, METH_NOARGS, "The value now, as a tensor that never changes."},
    {"_assign", assign<&Variable::assign>, METH_O, "Replaces the value."},
    {"_assign_add", assign<&Variable::assign_add>, METH_O, "Adds to the value."},
    {"_assign_sub", assign<&Variable::assign_sub>, METH_O, "Subtracts from the value."},
    {"_update", update, METH_VARARGS, "Updates the value by an op of which it is an input."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

const Variable& variable_of(PyObject* object) {
  const Variable& variable = self_of(object)->value;
  if (!variable) raise(PyExc_ValueError, "the variable has no value yet: call Variable.__init__");
  return variable;
}

namespace {

/// The value of an object that is no variable itself but stands for one, as packages write them: a
/// class below ours with a method `value` of its own.
[[gnu::cold, gnu::noinline]] Tensor value_told_by(PyObject* object) {
  static PyObject* const name = interned("value");
  if (_PyType_Lookup(Py_TYPE(object), name) == _PyType_Lookup(variable_type, name)) {
    variable_of(object);  // raises
  }
  const Ref value = Ref::checked(call_method(object, "value"));
  return to_tensor(value.get(), {});
}

}  // namespace

Tensor operand_of(PyObject* object) {
  if (!self_of(object)->value) return value_told_by(object);
  const GilHeld held;
  // A handle of its own: the object may be changed while another thread's update is waited for.
  const Variable variable = variable_of(object);
  return variable.operand();
}

Tensor reading_of(PyObject* object) {
  if (!self_of(object)->value) return value_told_by(object);
  const GilHeld held;
  const SourceLine line;
  const Variable variable = variable_of(object);
  return variable.value();
}

void initialize_variable_type(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(new_variable)},
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_tp_methods, methods},
  };
  for (const PyType_Slot* slot = variable_number_slots; slot->slot != 0; ++slot) {
    slots.push_back(*slot);
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec{"tidemark._tidemark.VariableBase", static_cast<int>(sizeof(PyVariable)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  PyObject* type = Ref::checked(PyType_FromSpec(&spec)).release();
  variable_type = reinterpret_cast<PyTypeObject*>(type);
  const Ref priority = Ref::checked(PyLong_FromLong(100));
  check(PyObject_SetAttrString(type, "__array_priority__", priority.get()));
  check(PyModule_AddObjectRef(module, "VariableBase", type));
}

}  // namespace tidemark::python
