// The buffer protocol: memoryview(t), np.asarray(t) and all who read buffers share the elements.
#include <exception>
#include <memory>
#include <utility>

#include "tidemark/graph/donated.h"
#include "tidemark/tensor/storage.h"

#include "errors.h"
#include "op_call.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return "?";
    case DType::int8:
      return "b";
    case DType::uint8:
      return "B";
    case DType::int16:
      return "h";
    case DType::uint16:
      return "H";
    case DType::int32:
      return "i";
    case DType::uint32:
      return "I";
    case DType::int64:
      return "l";
    case DType::uint64:
      return "L";
    case DType::float16:
      return "e";
    case DType::float32:
      return "f";
    case DType::float64:
      return "d";
    case DType::complex64:
      return "Zf";
    case DType::complex128:
      return "Zd";
    default:
      return nullptr;
  }
}

/// What an export keeps until it is released: the handle too, for the Python object may give its
/// tensor away.
struct Exported {
  Tensor tensor;
  std::unique_ptr<Py_ssize_t[]> dims;
};

void fill_dims(Py_buffer* view, Exported& exported) {
  const Tensor& t = exported.tensor;
  const int rank = t.rank();
  exported.dims = std::make_unique<Py_ssize_t[]>(static_cast<size_t>(2 * rank + 1));
  Py_ssize_t* const dims = exported.dims.get();
  Py_ssize_t stride = view->itemsize;
  for (int i = rank - 1; i >= 0; --i) {
    dims[i] = t.dim(i);
    dims[rank + i] = stride;
    stride *= t.dim(i);
  }
  view->shape = dims;
  view->strides = dims + rank;
}

/// Errors of a device are told once. NumPy asks for a buffer first, forgets what went wrong and
/// asks for an array: the error is kept for that.
struct Untold {
  uint64_t tensor = 0;
  std::exception_ptr error;
};
thread_local Untold untold;

/// What lies elsewhere is exported as a copy: the export keeps it.
Tensor exported_elements(const Tensor& t) {
  if (is_symbolic(t) || t.device().is_cpu()) return t;
  try {
    return copied_to(t, Device());
  } catch (const Error&) {
    untold = {id_of(t), std::current_exception()};
    throw;
  }
}

thread_local constinit bool may_be_written = false;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  if ((flags & PyBUF_WRITABLE) &&
      !may_be_written) {  // asked first by NumPy, each time: no exception on this way
    PyErr_SetString(PyExc_BufferError, "tensors are read-only");
    return -1;
  }
  const int status = guarded([&]() -> int {
    const Tensor t = exported_elements(tensor_of(self));
    if (graph::is_donated(t)) {
      raise(PyExc_BufferError, "%s", graph::describe_donated(t).c_str());
    }
    if (is_symbolic(t)) raise(PyExc_BufferError, "a tensor without a value has no buffer");
    const char* format = format_of(t.dtype());
    if (!format && (t.dtype() == DType::string || (flags & PyBUF_FORMAT))) {
      raise(PyExc_BufferError, "the buffer protocol knows no format for %s",
            std::string(name_of(t.dtype())).c_str());
    }
    static char nothing = 0;
    auto exported = std::make_unique<Exported>(Exported{t, nullptr});
    *view = {};
    view->buf = t.num_elements() > 0 ? const_cast<void*>(t.raw_data()) : &nothing;
    view->len = static_cast<Py_ssize_t>(t.nbytes());
    view->itemsize = static_cast<Py_ssize_t>(size_of(t.dtype()));
    view->readonly = !may_be_written;
    view->ndim = (flags & PyBUF_ND) ? t.rank() : 1;
    if (flags & PyBUF_FORMAT) view->format = const_cast<char*>(format);
    if (flags & PyBUF_ND) fill_dims(view, *exported);
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view->strides = nullptr;
    view->internal = exported.release();
    view->obj = Py_NewRef(self);
    return 0;
  });
  if (status < 0 && !PyErr_ExceptionMatches(PyExc_BufferError)) {
    PyErr_SetString(PyExc_BufferError, "the elements cannot be had: np.asarray(tensor) says why");
  }
  return status;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

}  // namespace

LendForWriting::LendForWriting() { may_be_written = true; }
LendForWriting::~LendForWriting() { may_be_written = false; }

void throw_untold(const Tensor& t) {
  if (!untold.error || untold.tensor != id_of(t)) return;
  std::rethrow_exception(std::exchange(untold, {}).error);
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                              {0, nullptr}};

}  // namespace tidemark::python
