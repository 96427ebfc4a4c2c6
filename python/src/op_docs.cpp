// What a definition says about its op, for people and programs.
#include "calls.h"
#include "errors.h"
#include "frontend.h"
#include "op_call.h"
#include "op_function.h"

namespace tidemark::python {

namespace {

const char* kind_name(AttrKind kind) {
  switch (kind) {
    case AttrKind::boolean:
      return "bool";
    case AttrKind::integer:
      return "int";
    case AttrKind::real:
      return "float";
    case AttrKind::dtype:
      return "dtype";
    case AttrKind::string:
      return "string";
    case AttrKind::ints:
      return "ints";
  }
  return "?";
}

std::string repr_of(const Attr& attr) {
  const Ref object = Ref::checked(object_from_attr(attr));
  const Ref text = Ref::checked(PyObject_Repr(object.get()));
  const char* utf8 = PyUnicode_AsUTF8(text.get());
  if (!utf8) throw PythonError{};
  return utf8;
}

std::string dtype_list(DTypeSet set) {
  std::string out;
  for (int i = 1; i < kDTypeSlots; ++i) {
    if (!set.contains(static_cast<DType>(i))) continue;
    if (!out.empty()) out += ", ";
    out += name_of(static_cast<DType>(i));
  }
  return out;
}

std::string doc_of(const Param& param) {
  std::string out = "  " + param.name + ": ";
  if (param.kind == Param::Kind::attr) {
    out += std::string("`") + kind_name(param.attr_kind) + "`";
    if (!param.required) out += ", by default " + repr_of(param.fallback);
  } else {
    out += param.kind == Param::Kind::input ? "`Tensor`" : "list of `Tensor`s";
    out += " of " + dtype_list(param.dtypes);
  }
  return out + ".\n";
}

Ref dtype_names(DTypeSet set) {
  Ref list = Ref::checked(PyList_New(0));
  for (int i = 1; i < kDTypeSlots; ++i) {
    if (!set.contains(static_cast<DType>(i))) continue;
    const std::string_view name = name_of(static_cast<DType>(i));
    const Ref text = Ref::checked(
        PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    check(PyList_Append(list.get(), text.get()));
  }
  return list;
}

Ref schema_of_param(const Param& param) {
  if (param.kind == Param::Kind::attr) {
    const Ref fallback = Ref::checked(object_from_attr(param.fallback));
    return Ref::checked(Py_BuildValue(
        "{s:s,s:s,s:s,s:O,s:O,s:O}", "name", param.name.c_str(), "kind", "attr", "type",
        kind_name(param.attr_kind), "required", param.required ? Py_True : Py_False, "optional",
        param.optional ? Py_True : Py_False, "default", fallback.get()));
  }
  const Ref dtypes = dtype_names(param.dtypes);
  return Ref::checked(Py_BuildValue("{s:s,s:s,s:O,s:C}", "name", param.name.c_str(), "kind",
                                    param.kind == Param::Kind::input ? "input" : "input_list",
                                    "dtypes", dtypes.get(), "type_var",
                                    static_cast<int>(param.type_var)));
}

const char* output_kind(OutputType::Kind kind) {
  switch (kind) {
    case OutputType::Kind::fixed:
      return "fixed";
    case OutputType::Kind::like_input:
      return "like";
    case OutputType::Kind::from_attr:
      return "from_attr";
    case OutputType::Kind::real_of_input:
      return "real_of";
    case OutputType::Kind::rule:
      return "rule";
  }
  return "?";
}

template <class Items, class Fn>
Ref list_of(const Items& items, Fn&& convert) {
  Ref list = Ref::checked(PyList_New(0));
  for (const auto& item : items) {
    const Ref object = convert(item);
    check(PyList_Append(list.get(), object.get()));
  }
  return list;
}

}  // namespace

std::string doc_of(const OpDef& op) {
  std::string out = op.doc() + "\n\nArgs:\n";
  for (const Param& param : op.params()) out += doc_of(param);
  out += "  name: ignored.\n\nReturns:\n  ";
  if (op.has_output_list()) return out + "A list of `Tensor`s.\n";
  if (op.outputs().size() == 1) return out + "A `Tensor`.\n";
  out += "A list of `Tensor`s: ";
  for (size_t i = 0; i < op.outputs().size(); ++i) {
    out.append(i ? ", " : "").append(op.outputs()[i].name);
  }
  return out + ".\n";
}

std::string text_signature_of(const OpDef& op) {
  std::string out = "(";
  for (const Param& param : op.params()) {
    out += param.name;
    if (param.kind == Param::Kind::attr && !param.required) out += "=" + repr_of(param.fallback);
    out += ", ";
  }
  return out + "name=None)";
}

PyObject* signature_of(const OpDef& op) {
  const Ref inspect = Ref::checked(PyImport_ImportModule("inspect"));
  const Ref parameter = Ref::checked(PyObject_GetAttrString(inspect.get(), "Parameter"));
  const Ref kind = Ref::checked(PyObject_GetAttrString(parameter.get(), "POSITIONAL_OR_KEYWORD"));
  const Ref empty = Ref::checked(PyObject_GetAttrString(parameter.get(), "empty"));
  Ref list = Ref::checked(PyList_New(0));
  bool has_default = false;
  const auto add = [&](const char* name, const Ref& fallback) {
    const Ref args = Ref::checked(Py_BuildValue("(sO)", name, kind.get()));
    const Ref keywords = Ref::checked(Py_BuildValue("{s:O}", "default", fallback.get()));
    const Ref item = Ref::checked(call_object_with(parameter.get(), args.get(), keywords.get()));
    check(PyList_Append(list.get(), item.get()));
  };
  for (const Param& param : op.params()) {
    const bool optional = param.kind == Param::Kind::attr && !param.required;
    // After a parameter with a default Python's signatures allow only such.
    has_default = has_default || optional;
    add(param.name.c_str(), optional      ? Ref::checked(object_from_attr(param.fallback))
                            : has_default ? Ref::borrow(Py_None)
                                          : empty);
  }
  add("name", Ref::borrow(Py_None));
  return Ref::checked(call_method(inspect.get(), "Signature", "O", list.get())).release();
}

namespace {

Ref string_from(std::string_view s) {
  return Ref::checked(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}

const char* reduction_name(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::none:
      return nullptr;  // None in Python
    case ReductionKind::sum:
      return "sum";
    case ReductionKind::mean:
      return "mean";
    case ReductionKind::maximum:
      return "maximum";
    case ReductionKind::minimum:
      return "minimum";
    case ReductionKind::product:
      return "product";
    case ReductionKind::logical:
      return "logical";
    case ReductionKind::other:
      return "other";
  }
  return nullptr;
}

/// None where there is no such op.
Ref schema_of_foreign(const ForeignOp* op) {
  if (!op) return Ref::borrow(Py_None);
  const Ref inputs = list_of(op->inputs, string_from);
  const Ref attrs = Ref::checked(PyDict_New());
  for (const auto& [theirs, ours] : op->attrs) {
    check(PyDict_SetItemString(attrs.get(), theirs.c_str(), string_from(ours).get()));
  }
  return Ref::checked(Py_BuildValue("{s:s,s:O,s:O,s:s}", "op", op->name.c_str(), "inputs",
                                    inputs.get(), "attrs", attrs.get(), "label",
                                    op->label.c_str()));
}

/// The dtypes some of whose elements the kernel refuses.
DTypeSet fails_on(const OpDef& op) {
  DTypeSet set;
  for (int i = 1; i < kDTypeSlots; ++i) {
    if (op.may_fail(static_cast<DType>(i))) set.bits |= 1u << i;
  }
  return set;
}

/// What passes and front ends ask about the op.
void add_facts(PyObject* schema, const OpDef& op) {
  const Ref tensorflow = schema_of_foreign(op.foreign(Vocabulary::tensorflow));
  const Ref onnx = schema_of_foreign(op.foreign(Vocabulary::onnx));
  const Ref axis = op.is_along_axis() ? Ref::checked(PyLong_FromLong(op.axis_unless_given()))
                                      : Ref::borrow(Py_None);
  const Ref fails = dtype_names(fails_on(op));
  const auto flag = [](bool value) { return value ? Py_True : Py_False; };
  const Ref facts = Ref::checked(Py_BuildValue(
      "{s:O,s:O,s:O,s:z,s:O,s:O,s:O,s:O}", "works_on_elements", flag(op.works_on_elements()),
      "cheap", flag(op.is_cheap()), "may_fail", fails.get(), "reduction",
      reduction_name(op.reduction_kind()), "axis_unless_given", axis.get(), "rows",
      flag(op.row_treatment() || op.is_elementwise()), "tensorflow", tensorflow.get(), "onnx",
      onnx.get()));
  check(PyDict_Update(schema, facts.get()));
}

}  // namespace

PyObject* schema_of(const OpDef& op) {
  const Ref names = list_of(op.python_names(), string_from);
  const Ref params = list_of(op.params(), schema_of_param);
  const Ref outputs = list_of(op.outputs(), [](const OutputSpec& output) {
    return Ref::checked(
        Py_BuildValue("{s:N,s:s,s:N,s:i}", "name", string_from(output.name).release(), "type",
                      output_kind(output.type.kind), "of", string_from(output.type.name).release(),
                      "dtype", static_cast<int>(output.type.dtype)));
  });
  const auto flag = [](bool value) { return value ? Py_True : Py_False; };
  Ref schema = Ref::checked(
      Py_BuildValue("{s:s,s:s,s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:O}", "name", op.name().c_str(), "doc",
                    op.doc().c_str(), "python_names", names.get(), "params", params.get(),
                    "outputs", outputs.get(), "output_list", flag(op.has_output_list()),
                    "elementwise", flag(op.is_elementwise()), "stateful", flag(op.is_stateful()),
                    "heavy", flag(op.is_heavy()), "differentiable", flag(op.is_differentiable())));
  add_facts(schema.get(), op);
  return schema.release();
}

}  // namespace tidemark::python
