#include "arguments.h"
#include "calls.h"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include "frontend.h"
#include "graph_module.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

using trace::Argument;

namespace {

constexpr Py_ssize_t kLongestText = 40;

bool are_equal(PyObject* a, PyObject* b) {
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  check(equal);
  return equal == 1;
}

bool is_nan(PyObject* value) {
  const Ref differs = Ref::checked(PyObject_RichCompare(value, value, Py_NE));
  const int truth = PyObject_IsTrue(differs.get());
  check(truth);
  return truth == 1;
}

/// Whether it counts by its worth even where a weak reference to it could be had.
bool is_worth(PyObject* leaf) {
  return number_dtype(leaf) != DType::invalid || leaf == Py_None || PyBool_Check(leaf) ||
         PyUnicode_Check(leaf) || PyBytes_Check(leaf) || PyType_Check(leaf);
}

PyObject* number_type(DType dtype) {
  PyTypeObject* type = dtype == DType::int64     ? &PyLong_Type
                       : dtype == DType::float64 ? &PyFloat_Type
                                                 : &PyComplex_Type;
  return reinterpret_cast<PyObject*>(type);
}

std::string utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (!data) throw PythonError{};
  return {data, static_cast<size_t>(size)};
}

std::string text_of_value(PyObject* value) {
  const Ref text = Ref::checked(PyObject_Repr(value));
  if (PyUnicode_GET_LENGTH(text.get()) <= kLongestText) return utf8(text.get());
  const Ref beginning = Ref::checked(PyUnicode_Substring(text.get(), 0, kLongestText - 3));
  return utf8(beginning.get()) + "...";
}

const PyValue& value_of(const Argument& arg) { return static_cast<const PyValue&>(arg.value()); }

nb::object shape_or_none(const Argument& arg) {
  if (!arg.shape().has_rank()) return nb::none();
  nb::list sizes;
  for (const int64_t size : arg.shape()) {
    if (size < 0) {
      sizes.append(nb::none());
    } else {
      sizes.append(size);
    }
  }
  return nb::tuple(sizes);
}

/// What the code was given, where the argument stands for one thing alone; else itself.
nb::object value_or_self(nb::handle self) {
  const auto& arg = nb::cast<const Argument&>(self);
  const bool is_known = arg.kind() == Argument::Kind::value && !arg.value().is_object();
  return nb::borrow(is_known ? value_of(arg).get() : self.ptr());
}

nb::object live_object(const Argument& arg) {
  if (arg.kind() != Argument::Kind::value || !arg.value().is_object()) return nb::none();
  PyObject* object = value_of(arg).get();
  return object ? nb::object(nb::borrow(object)) : nb::none();
}

}  // namespace

std::unique_ptr<PyValue> PyValue::worth(PyObject* value) {
  auto out = std::make_unique<PyValue>();
  out->held_ = Ref::borrow(value);
  return out;
}

std::unique_ptr<PyValue> PyValue::identity(PyObject* object, PyObject* function) {
  auto out = std::make_unique<PyValue>();
  out->held_ = Ref::checked(PyWeakref_NewRef(object, nullptr));
  out->function_ = Ref::borrow(function);
  const Ref type_name = Ref::checked(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  out->name_ = utf8(type_name.get()) + " object";
  out->is_object_ = true;
  return out;
}

bool PyValue::is_same(const Value& other) const {
  const auto& others = static_cast<const PyValue&>(other);
  if (is_object_ != others.is_object_) return false;
  if (is_object_) {
    PyObject* mine = PyWeakref_GetObject(held_.get());
    return mine != Py_None && mine == PyWeakref_GetObject(others.held_.get()) &&
           function_.get() == others.function_.get();
  }
  PyObject *a = held_.get(), *b = others.held_.get();
  if (a == b) return true;
  return Py_TYPE(a) == Py_TYPE(b) && (are_equal(a, b) || (is_nan(a) && is_nan(b)));
}

PyObject* PyValue::get() const {
  if (!is_object_) return held_.get();
  PyObject* object = PyWeakref_GetObject(held_.get());
  return object == Py_None || function_ ? nullptr : object;
}

int PyValue::visit(visitproc visit, void* arg) const {
  Py_VISIT(held_.get());
  Py_VISIT(function_.get());
  return 0;
}

bool PyStructure::is_same(const Structure& other) const {
  return are_equal(token_.get(), static_cast<const PyStructure&>(other).token_.get());
}

Argument describe(PyObject* leaf) {
  if (is_tensor(leaf)) {
    return Argument::any_tensor(tensor_of(leaf).dtype(), tensor_of(leaf).shape());
  }
  if (is_variable(leaf)) {  // its value is read when the graph runs
    return Argument::exactly(PyValue::identity(leaf));
  }
  if (is_worth(leaf)) return Argument::exactly(PyValue::worth(leaf), number_dtype(leaf));
  if (PyMethod_Check(leaf)) {
    return Argument::exactly(
        PyValue::identity(PyMethod_GET_SELF(leaf), PyMethod_GET_FUNCTION(leaf)));
  }
  if (nb::isinstance<Argument>(leaf)) return nb::cast<const Argument&>(nb::handle(leaf));
  if (PyType_SUPPORTS_WEAKREFS(Py_TYPE(leaf))) return Argument::exactly(PyValue::identity(leaf));
  if (PyObject_Hash(leaf) == -1) throw PythonError{};
  return Argument::exactly(PyValue::worth(leaf));
}

std::shared_ptr<const trace::Structure> structure_of(PyObject* token) {
  if (PyLong_Check(token)) return {};
  return std::make_shared<PyStructure>(token);
}

std::vector<Argument> arguments_from(PyObject* sequence) {
  const Ref leaves = Ref::checked(PySequence_Tuple(sequence));
  std::vector<Argument> out;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(leaves.get()); ++i) {
    out.push_back(describe(PyTuple_GET_ITEM(leaves.get(), i)));
  }
  return out;
}

trace::Signature signature_of(PyObject* call) {
  static PyObject* const token_name = interned("token");
  static PyObject* const leaves_name = interned("leaves");
  const Ref token = Ref::checked(PyObject_GetAttr(call, token_name));
  const Ref leaves = Ref::checked(PyObject_GetAttr(call, leaves_name));
  return {structure_of(token.get()), arguments_from(leaves.get())};
}

std::string text_of(const Argument& arg) {
  if (arg.kind() == Argument::Kind::number) {
    return message("any ", reinterpret_cast<PyTypeObject*>(number_type(arg.dtype()))->tp_name);
  }
  if (arg.kind() == Argument::Kind::value) {
    return arg.value().is_object() ? value_of(arg).name() : text_of_value(value_of(arg).get());
  }
  std::string out = message(name_of(arg.dtype()), "[");
  if (!arg.shape().has_rank()) return out + "<unknown>]";
  for (int i = 0; i < arg.shape().rank(); ++i) {
    if (i) out += ", ";
    out += arg.shape()[i] < 0 ? "None" : std::to_string(arg.shape()[i]);
  }
  return out + "]";
}

nb::object argument_object(const Argument& arg) { return nb::cast(arg, nb::rv_policy::copy); }

void add_argument_type(nb::module_& m) {
  nb::class_<Argument>(m, "Argument",
                       "What a trace takes in one place: tensors, any number, one value.")
      .def_static(
          "of", [](nb::handle leaf) { return describe(leaf.ptr()); }, nb::arg("leaf").none(),
          "What a trace depends on of one leaf of the arguments.")
      .def_static(
          "tensor",
          [](nb::handle dtype, nb::handle shape, nb::handle name) {
            return Argument::any_tensor(dtype_from_object(dtype.ptr()), shape_of(shape),
                                        name.is_none() ? std::string() : utf8(name.ptr()));
          },
          nb::arg("dtype"), nb::arg("shape").none(), nb::arg("name").none() = nb::none())
      .def_static(
          "number",
          [](nb::type_object type) {
            const Ref zero = Ref::checked(call_object(type.ptr()));
            return Argument::any_number(number_dtype(zero.get()));
          },
          nb::arg("type"))
      .def_prop_ro("is_tensor",
                   [](const Argument& self) { return self.kind() == Argument::Kind::tensor; })
      .def_prop_ro("is_number",
                   [](const Argument& self) { return self.kind() == Argument::Kind::number; })
      .def_prop_ro("is_input", &Argument::is_input)
      .def_prop_ro("dtype",
                   [](const Argument& self) {
                     return nb::steal(Ref::checked(dtype_object(self.dtype())).release());
                   })
      .def_prop_ro("shape", shape_or_none)
      .def_prop_ro("name",
                   [](const Argument& self) -> nb::object {
                     if (self.name().empty()) return nb::none();
                     return nb::cast(self.name());
                   })
      .def_prop_ro("type",
                   [](const Argument& self) { return nb::borrow(number_type(self.dtype())); })
      .def_prop_ro("value", value_or_self)
      .def_prop_ro("object", live_object, "The object that it stands for, while that lives.")
      .def("accepts",
           [](const Argument& self, const Argument& other) { return self.accepts(other); })
      .def("__eq__", [](const Argument& self, const Argument& other) { return self == other; })
      .def("__repr__", text_of)
      .attr("__hash__") = nb::none();
}

}  // namespace tidemark::python
