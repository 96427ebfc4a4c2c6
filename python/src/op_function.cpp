#include "op_function.h"

#include <structmember.h>

#include <map>

#include "composites.h"
#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "open_attrs.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

constexpr size_t kMostParams = 32;

struct OpFunction {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const OpDef* op;
  PyObject* name;
  PyObject* module;
  PyObject* param_names;  // tuple of interned strings
  PyObject* doc;          // null until it is set
  PyObject* label;        // what its operations are called unless named; null: as others of the op
  PyObject* weakrefs;
  PyObject* dict;
};
PyTypeObject* function_type = nullptr;

OpFunction* function_of(PyObject* object) { return reinterpret_cast<OpFunction*>(object); }

const char* utf8(PyObject* text) {
  const char* out = PyUnicode_AsUTF8(text);
  return out ? out : "?";
}

// --- arguments --------------------------------------------------------------------------------

size_t required_count(const OpDef& op) {
  size_t count = 0;
  for (const Param& p : op.params()) count += p.kind != Param::Kind::attr || p.required;
  return count;
}

[[noreturn]] void raise_too_many(const OpFunction& f, Py_ssize_t given) {
  const size_t most = f.op->params().size() + 1;  // and `name`
  const size_t least = required_count(*f.op);
  raise(PyExc_TypeError, "%U() takes from %zu to %zu positional arguments but %zd were given",
        f.name, least, most, given);
}

/// Index of the parameter; the number of parameters for `name`; -1: there is none.
Py_ssize_t find_param(const OpFunction& f, PyObject* keyword) {
  const Py_ssize_t count = PyTuple_GET_SIZE(f.param_names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyTuple_GET_ITEM(f.param_names, i) == keyword) return i;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyUnicode_Compare(PyTuple_GET_ITEM(f.param_names, i), keyword) == 0) return i;
  }
  return PyUnicode_CompareWithASCIIString(keyword, "name") == 0 ? count : -1;
}

[[noreturn]] void raise_missing(const OpFunction& f, size_t index) {
  raise(PyExc_TypeError, "%U() missing 1 required positional argument: '%s'", f.name,
        f.op->params()[index].name.c_str());
}

/// Sorts the arguments of a call by parameter; null: not given.
void sort_arguments(const OpFunction& f, PyObject* const* args, Py_ssize_t positional,
                    PyObject* keywords, PyObject** values) {
  const auto count = static_cast<Py_ssize_t>(f.op->params().size());
  if (positional > count + 1) raise_too_many(f, positional);
  for (Py_ssize_t i = 0; i < positional; ++i) values[i] = args[i];
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, i);
    const Py_ssize_t index = find_param(f, keyword);
    if (index < 0) {
      raise(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", f.name, keyword);
    }
    if (values[index]) {
      raise(PyExc_TypeError, "%U() got multiple values for argument '%U'", f.name, keyword);
    }
    values[index] = args[positional + i];
  }
}

/// Attributes in the op's order; without the heap for the usual few.
class Attrs {
 public:
  explicit Attrs(size_t count) : count_(count) {
    if (count > kInline) heap_.resize(count);
  }
  Attr& operator[](size_t i) { return count_ > kInline ? heap_[i] : inline_[i]; }
  std::span<const Attr> span() const { return {count_ > kInline ? heap_.data() : inline_, count_}; }

 private:
  static constexpr size_t kInline = 4;
  size_t count_;
  Attr inline_[kInline];
  std::vector<Attr> heap_;
};

PyObject* run_with(const OpFunction& f, PyObject** values) {
  const OpDef& op = *f.op;
  PyObject* inputs_given[kMostParams];
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const auto index = static_cast<size_t>(op.inputs()[i]);
    if (!values[index]) raise_missing(f, index);
    inputs_given[i] = values[index];
  }
  const GilHeld held;
  const SourceLine line;
  Attrs attrs(op.attrs().size());
  for (size_t i = 0; i < op.attrs().size(); ++i) {
    const auto index = static_cast<size_t>(op.attrs()[i]);
    const Param& param = op.params()[index];
    if (values[index]) {
      attrs[i] = attr_from_object(op, param, values[index]);
    } else if (param.required) {
      raise_missing(f, index);
    } else {
      attrs[i] = param.fallback;
    }
  }
  Inputs inputs;
  convert_inputs(op, inputs_given, inputs);
  Ref result = Ref::checked(run_op(op, inputs.span(), attrs.span(), 0, line.place()));
  PyObject* name = values[op.params().size()];
  if (name && name != Py_None) [[unlikely]]
    name_result(result.get(), name);
  else if (f.label) [[unlikely]] label_result(result.get(), f.label);
  return result.release();
}

/// What is to be had where a value of an attribute is missing; null: nothing.
PyObject* answer_without_value(const OpFunction& f, PyObject* const* args, Py_ssize_t positional,
                               PyObject* keywords) {
  PyObject* values[kMostParams + 1] = {};
  sort_arguments(f, args, positional, keywords, values);
  const Ref inputs = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(f.op->inputs().size())));
  for (size_t i = 0; i < f.op->inputs().size(); ++i) {
    PyObject* value = values[f.op->inputs()[i]];
    PyTuple_SET_ITEM(inputs.get(), static_cast<Py_ssize_t>(i), Py_NewRef(value));
  }
  const Ref attrs = Ref::checked(PyDict_New());
  for (const int index : f.op->attrs()) {
    if (!values[index]) continue;
    check(PyDict_SetItem(attrs.get(), PyTuple_GET_ITEM(f.param_names, index), values[index]));
  }
  return ask_open_attrs(*f.op, inputs.get(), attrs.get());
}

PyObject* call_function(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  PyObject* result = guarded([&]() -> PyObject* {
    const OpFunction& f = *function_of(self);
    PyObject* values[kMostParams + 1] = {};
    sort_arguments(f, args, PyVectorcall_NARGS(flags), keywords, values);
    return run_with(f, values);
  });
  if (result) [[likely]]
    return result;
  if (is_value_missing()) {
    return answer_instead_of_error([&] {
      return answer_without_value(*function_of(self), args, PyVectorcall_NARGS(flags), keywords);
    });
  }
  return answer_of_composites(self, args, PyVectorcall_NARGS(flags), keywords);
}

// --- the object -------------------------------------------------------------------------------

Ref names_of_params(const OpDef& op) {
  Ref names = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(op.params().size())));
  for (size_t i = 0; i < op.params().size(); ++i) {
    PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(i),
                     interned(op.params()[i].name.c_str()));
  }
  return names;
}

/// "tf.math.add" is the function add of the module tidemark.math.
PyObject* new_function(const OpDef& op, const std::string& full_name) {
  if (op.params().size() > kMostParams) {
    fail("[", op.name(), "] has more than ", kMostParams, " parameters");
  }
  const size_t dot = full_name.rfind('.');
  const std::string name = dot == std::string::npos ? full_name : full_name.substr(dot + 1);
  std::string module = dot == std::string::npos ? "" : full_name.substr(0, dot);
  if (module.starts_with("tf")) module.replace(0, 2, "tidemark");
  Ref names = names_of_params(op);
  PyObject* object = Ref::checked(function_type->tp_alloc(function_type, 0)).release();
  OpFunction* f = function_of(object);
  f->vectorcall = call_function;
  f->op = &op;
  f->param_names = names.release();
  f->name = interned(name.c_str());
  f->module = interned(module.c_str());
  return object;
}

void drop_function(PyObject* object) {
  OpFunction* f = function_of(object);
  PyTypeObject* type = Py_TYPE(object);
  if (f->weakrefs) PyObject_ClearWeakRefs(object);
  Py_XDECREF(f->dict);
  Py_XDECREF(f->name);
  Py_XDECREF(f->module);
  Py_XDECREF(f->param_names);
  Py_XDECREF(f->doc);
  Py_XDECREF(f->label);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* describe_function(PyObject* self) {
  return PyUnicode_FromFormat("<function %U.%U>", function_of(self)->module,
                              function_of(self)->name);
}

PyObject* get_doc(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    OpFunction* f = function_of(self);
    if (f->doc) return Py_NewRef(f->doc);
    return PyUnicode_FromString(doc_of(*f->op).c_str());
  });
}
int set_doc(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(function_of(self)->doc, Py_XNewRef(value));
  return 0;
}
PyObject* get_signature(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return signature_of(*function_of(self)->op); });
}
PyObject* get_text_signature(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    return PyUnicode_FromString(text_signature_of(*function_of(self)->op).c_str());
  });
}
PyObject* get_op_name(PyObject* self, void*) {
  return PyUnicode_FromString(function_of(self)->op->name().c_str());
}

/// Pickled by its place in the package.
PyObject* reduce_function(PyObject* self, PyObject*) {
  return Ref::borrow(function_of(self)->name).release();
}

PyGetSetDef function_properties[] = {
    {"__doc__", get_doc, set_doc, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {"__text_signature__", get_text_signature, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"op_name", get_op_name, nullptr, "The op's name in the registry.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(OpFunction, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(OpFunction, dict), READONLY, nullptr},
    {"__name__", T_OBJECT, offsetof(OpFunction, name), READONLY, nullptr},
    {"__qualname__", T_OBJECT, offsetof(OpFunction, name), READONLY, nullptr},
    {"__module__", T_OBJECT, offsetof(OpFunction, module), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef function_methods[] = {{"__reduce__", reduce_function, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
PyType_Slot function_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(drop_function)},
                                {Py_tp_repr, reinterpret_cast<void*>(describe_function)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_getset, function_properties},
                                {Py_tp_members, function_members},
                                {Py_tp_methods, function_methods},
                                {0, nullptr}};
PyType_Spec function_spec{"tidemark._tidemark.OpFunction", static_cast<int>(sizeof(OpFunction)), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, function_slots};

/// {full Python name: function}. Names of one op with the same last part share a function.
PyObject* op_functions(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref out = Ref::checked(PyDict_New());
    for (const OpDef* op : OpRegistry::instance().all()) {
      std::map<std::string, Ref> made;
      for (const std::string_view name : op->python_names()) {
        const std::string full(name);
        Ref& function = made[full.substr(full.rfind('.') + 1)];
        if (!function) function = Ref::steal(new_function(*op, full));
        check(PyDict_SetItemString(out.get(), full.c_str(), function.get()));
      }
    }
    return out.release();
  });
}

/// op_function(op_name): for ops without a Python name, as those of a loaded library.
PyObject* op_function(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError{};
    const OpDef& op = OpRegistry::instance().get(text);
    return new_function(op, op.name());
  });
}

/// set_function_label(function, label)
PyObject* set_function_label(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || Py_TYPE(args[0]) != function_type || !PyUnicode_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "set_function_label takes a function of an op and a name");
    return nullptr;
  }
  Py_XSETREF(function_of(args[0])->label, Py_NewRef(args[1]));
  Py_RETURN_NONE;
}

PyObject* list_ops(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref out = Ref::checked(PyList_New(0));
    for (const OpDef* op : OpRegistry::instance().all()) {
      const Ref schema = Ref::steal(schema_of(*op));
      check(PyList_Append(out.get(), schema.get()));
    }
    return out.release();
  });
}

/// op_schema(name)
PyObject* op_schema(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    if (!PyUnicode_Check(name)) raise(PyExc_TypeError, "a name is a string; %R was given", name);
    const OpDef* op = OpRegistry::instance().find(utf8(name));
    return op ? schema_of(*op) : Py_NewRef(Py_None);
  });
}

/// op_of_tensorflow(name)
PyObject* op_of_tensorflow(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    if (!PyUnicode_Check(name)) raise(PyExc_TypeError, "a name is a string; %R was given", name);
    const OpDef* op = OpRegistry::instance().find(Vocabulary::tensorflow, utf8(name));
    return op ? schema_of(*op) : Py_NewRef(Py_None);
  });
}

// --- call(op_name, inputs, attrs=None) ----------------------------------------------------------

std::vector<Attr> attrs_from_dict(const OpDef& op, PyObject* given) {
  std::vector<Attr> attrs = default_attrs(op);
  std::vector<bool> seen(attrs.size());
  if (given != Py_None && !PyDict_Check(given)) {
    raise(PyExc_TypeError, "attributes are given as a dict; %R was given", given);
  }
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; given != Py_None && PyDict_Next(given, &at, &key, &value);) {
    const int index = PyUnicode_Check(key) ? op.attr_index(utf8(key)) : -1;
    if (index < 0) {
      raise(PyExc_TypeError, "%s() got an unexpected attribute %R", op.name().c_str(), key);
    }
    const auto i = static_cast<size_t>(index);
    const Ref held = Ref::borrow(value);
    attrs[i] = attr_from_object(op, op.params()[static_cast<size_t>(op.attrs()[i])], held.get());
    seen[i] = true;
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const Param& param = op.params()[static_cast<size_t>(op.attrs()[i])];
    if (param.required && !seen[i]) {
      raise(PyExc_TypeError, "%s() missing required attribute '%s'", op.name().c_str(),
            param.name.c_str());
    }
  }
  return attrs;
}

/// One value for each input parameter. A list of tensors may be given as one item, or flat.
std::vector<Ref> grouped_inputs(const OpDef& op, PyObject* inputs) {
  const Ref items = Ref::checked(PySequence_Tuple(inputs));
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  const size_t wanted = op.inputs().size();
  const auto item = [&](size_t i) { return PyTuple_GET_ITEM(items.get(), Py_ssize_t(i)); };
  size_t list_at = wanted;
  for (size_t i = 0; i < wanted; ++i) {
    if (op.params()[static_cast<size_t>(op.inputs()[i])].kind == Param::Kind::input_list) {
      list_at = i;
    }
  }
  if (given != wanted && (list_at == wanted || given + 1 < wanted)) {
    raise(PyExc_TypeError, "%s() takes %zu inputs but %zu were given", op.name().c_str(), wanted,
          given);
  }
  const bool is_flat =
      list_at < wanted &&
      (given != wanted || !(PyList_Check(item(list_at)) || PyTuple_Check(item(list_at))));
  std::vector<Ref> out;
  const size_t in_list = is_flat ? given + 1 - wanted : 1;
  for (size_t i = 0; i < wanted; ++i) {
    const size_t at = i <= list_at ? i : i + in_list - 1;
    if (i == list_at && is_flat) {
      out.push_back(
          Ref::checked(PyTuple_GetSlice(items.get(), Py_ssize_t(at), Py_ssize_t(at + in_list))));
    } else {
      out.push_back(Ref::borrow(item(at)));
    }
  }
  return out;
}

PyObject* run_by_name(PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count < 2 || count > 3) {
      raise(PyExc_TypeError,
            "call(op_name, inputs, attrs=None) takes 2 or 3 arguments but %zd "
            "were given",
            count);
    }
    const char* name = PyUnicode_AsUTF8(args[0]);
    if (!name) throw PythonError{};
    const OpDef& op = OpRegistry::instance().get(name);
    const GilHeld held;
    const SourceLine line;
    const std::vector<Ref> values = grouped_inputs(op, args[1]);
    std::vector<PyObject*> borrowed;
    for (const Ref& value : values) borrowed.push_back(value.get());
    const std::vector<Attr> attrs = attrs_from_dict(op, count == 3 ? args[2] : Py_None);
    Inputs inputs;
    convert_inputs(op, borrowed.data(), inputs);
    return run_op(op, inputs.span(), attrs, 0, line.place());
  });
}

PyObject* call_by_name(PyObject*, PyObject* const* args, Py_ssize_t count) {
  PyObject* result = run_by_name(args, count);
  if (result || count != 3 || !is_value_missing()) [[likely]]
    return result;
  return answer_instead_of_error(
      [&] { return ask_open_attrs(OpRegistry::instance().get(utf8(args[0])), args[1], args[2]); });
}

PyObject* extend_tensor(PyObject*, PyObject* attributes) {
  if (!PyDict_Check(attributes)) {
    PyErr_SetString(PyExc_TypeError, "extend_tensor takes a dict {name: attribute}");
    return nullptr;
  }
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(attributes, &at, &key, &value);) {
    if (PyObject_SetAttr(reinterpret_cast<PyObject*>(tensor_type), key, value) < 0) return nullptr;
  }
  Py_RETURN_NONE;
}

}  // namespace

void initialize_op_function(PyObject* module) {
  PyObject* type = Ref::checked(PyType_FromSpec(&function_spec)).release();
  function_type = reinterpret_cast<PyTypeObject*>(type);
  check(PyModule_AddObjectRef(module, "OpFunction", type));
}

PyMethodDef op_function_methods[] = {
    {"call", with_keywords(call_by_name), METH_FASTCALL,
     "call(op_name, inputs, attrs=None, /)\n--\n\nRuns an op: a Tensor, or a list of several."},
    {"op_functions", op_functions, METH_NOARGS, "{full Python name: function} of all ops."},
    {"op_function", op_function, METH_O, "The function of one op, by its name in the registry."},
    {"set_function_label", with_keywords(set_function_label), METH_FASTCALL,
     "What the operations of a function are called in graphs unless named."},
    {"list_ops", list_ops, METH_NOARGS, "The definitions of all ops as dicts."},
    {"op_schema", op_schema, METH_O, "The definition of one op as a dict; None: no such op."},
    {"op_of_tensorflow", op_of_tensorflow, METH_O,
     "The definition of the op that does what TensorFlow's of that name does; None: no such op."},
    {"extend_tensor", extend_tensor, METH_O, "Sets attributes of the Tensor type."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
