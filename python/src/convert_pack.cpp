// Lists that hold tensors or arrays: converted item by item, then stacked.
#include <tidemark/call.h>

#include <vector>

#include "calls.h"
#include "convert.h"
#include "errors.h"
#include "numpy_api.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

bool holds_tensors(PyObject* value) {
  if (converts_itself(value)) return true;
  if (!PyList_Check(value) && !PyTuple_Check(value)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
    if (holds_tensors(PySequence_Fast_GET_ITEM(value, i))) return true;
  }
  return false;
}

/// No tensor among them: one array made by NumPy. Integers become int32 where that holds them, as
/// all integers in lists do.
Tensor tensor_from_arrays(PyObject* list, ConvertOptions options) {
  const Ref array = Ref::steal(call_method(numpy().module, "array", "O", list));
  if (!array) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError{};
    PyErr_Clear();
    raise(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
  }
  const Ref dtype = Ref::checked(PyObject_GetAttrString(array.get(), "dtype"));
  if (options.dtype == DType::invalid && dtype_of_numpy(dtype.get()) == DType::int64) {
    const Ref narrow =
        Ref::checked(call_method(array.get(), "astype", "O", numpy_dtype(DType::int32)));
    const Ref same =
        Ref::checked(call_method(numpy().module, "array_equal", "OO", array.get(), narrow.get()));
    if (PyObject_IsTrue(same.get()) == 1) return tensor_from_array(narrow.get(), options);
  }
  return tensor_from_array(array.get(), options);
}

Tensor cast_to(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : call("cast", {t}, {{"dtype", dtype}});
}

}  // namespace

Tensor tensor_from_parts(PyObject* list, ConvertOptions options) {
  if (!holds_tensors(list)) return tensor_from_arrays(list, options);
  const Ref items = Ref::checked(PySequence_Tuple(list));
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(items.get()));
  std::vector<Tensor> parts(count);
  DType common = options.dtype;
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i));
    if (!holds_tensors(item)) continue;
    parts[i] = to_tensor(item, {DType::invalid, false});
    if (options.dtype != DType::invalid) continue;
    common = common == DType::invalid ? parts[i].dtype() : promote(common, parts[i].dtype());
    if (common == DType::invalid) {
      raise(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
    }
  }
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i));
    if (!parts[i]) {
      parts[i] = to_tensor(item, {DType::invalid, false});
      const DType wanted = adapted_dtype(parts[i].dtype(), common);
      if (options.dtype == DType::invalid) common = promote(common, wanted);
      if (wanted != parts[i].dtype()) parts[i] = to_tensor(item, {wanted, false});
    }
  }
  for (Tensor& part : parts) part = cast_to(part, common);
  static const OpDef& stack = OpRegistry::instance().get("stack");
  const Attr axis(int64_t{0});
  return call(stack, parts, std::span(&axis, 1));
}

}  // namespace tidemark::python
