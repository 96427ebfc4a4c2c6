// Pickling: the elements as bytes (out of band where the pickler can), dtype and sizes.
#include <cstring>
#include <vector>

#include "tidemark/tensor/storage.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "op_call.h"
#include "pickle.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

PyObject* unpickle_function = nullptr;

Ref strings_as_list(const Tensor& t) {
  Ref list = Ref::checked(PyList_New(t.num_elements()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const std::string_view text = t.string_at(i);
    PyObject* item = PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    PyList_SET_ITEM(list.get(), i, Ref::checked(item).release());
  }
  return list;
}

Ref elements_of(PyObject* self, long protocol) {
  const Tensor t = copied_to(tensor_of(self), Device());
  if (t.dtype() == DType::string) return strings_as_list(t);
  constexpr long kOutOfBand = 5;
  if (protocol >= kOutOfBand && t.dtype() != DType::bfloat16) {
    return Ref::checked(PyPickleBuffer_FromObject(self));
  }
  return Ref::checked(PyBytes_FromStringAndSize(static_cast<const char*>(t.raw_data()),
                                                static_cast<Py_ssize_t>(t.nbytes())));
}

PyObject* reduce(PyObject* self, PyObject* protocol) {
  return guarded([&]() -> PyObject* {
    check_has_value(tensor_of(self), "pickling");
    const long number = PyLong_AsLong(protocol);
    if (number == -1 && PyErr_Occurred()) throw PythonError{};
    const Ref shape = Ref::checked(shape_tuple(tensor_of(self).shape()));
    const Ref elements = elements_of(self, number);
    return Py_BuildValue("O(iOO)", unpickle_function, static_cast<int>(tensor_of(self).dtype()),
                         shape.get(), elements.get());
  });
}

Tensor from_bytes(DType dtype, const Shape& shape, PyObject* bytes) {
  Py_buffer view;
  check(PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE));
  struct Release {
    Py_buffer* view;
    ~Release() { PyBuffer_Release(view); }
  } release{&view};
  Tensor out = new_tensor(dtype, shape);
  if (static_cast<size_t>(view.len) != out.nbytes()) {
    raise(PyExc_ValueError, "a pickled tensor of shape %s holds %zd bytes instead of %zu",
          shape.to_string().c_str(), view.len, out.nbytes());
  }
  if (view.len > 0) std::memcpy(out.mutable_raw_data(), view.buf, out.nbytes());
  return out;
}

/// _unpickle(dtype number, sizes, bytes-like or list of bytes)
PyObject* unpickle(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    int number = 0;
    PyObject *sizes = nullptr, *elements = nullptr;
    if (!PyArg_ParseTuple(args, "iOO:_unpickle", &number, &sizes, &elements)) throw PythonError{};
    const MakingConstant making;
    const DType dtype = dtype_from_enum(number);
    const Shape shape = shape_from_object(sizes);
    if (dtype != DType::string) return wrap(from_bytes(dtype, shape, elements));
    Tensor t = to_tensor(elements, {dtype, true});
    return wrap(t.reshaped(shape));
  });
}

}  // namespace

PyMethodDef pickle_methods[] = {{"__reduce_ex__", reduce, METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

PyMethodDef unpickle_methods[] = {
    {"_unpickle", unpickle, METH_VARARGS, "Makes a pickled tensor again."},
    {nullptr, nullptr, 0, nullptr}};

void initialize_pickle(PyObject* module) {
  unpickle_function = Ref::checked(PyObject_GetAttrString(module, "_unpickle")).release();
}

}  // namespace tidemark::python
