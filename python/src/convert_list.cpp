// Nested lists of numbers: one walk that writes straight into the tensor. The dtype is guessed from
// the first element; a later element that needs a wider one starts the walk again.
#include <cmath>
#include <limits>
#include <vector>

#include "tidemark/tensor/storage.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "numpy_api.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

enum class Leaf { boolean, integer, real, wide_real, complex, text, tensor, array, nested, other };

bool is_list(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

Leaf leaf_of_numpy_scalar(PyObject* value) {
  const Ref dtype = Ref::checked(PyObject_GetAttrString(value, "dtype"));
  const DType d = dtype_of_numpy(dtype.get());
  if (d == DType::bool_) return Leaf::boolean;
  if (is_integer(d)) return Leaf::integer;
  if (is_floating(d)) return d == DType::float64 ? Leaf::wide_real : Leaf::real;
  if (is_complex(d)) return Leaf::complex;
  return d == DType::string ? Leaf::text : Leaf::other;
}

Leaf leaf_of(PyObject* value) {
  if (PyLong_CheckExact(value)) return Leaf::integer;
  if (PyFloat_CheckExact(value)) return Leaf::real;
  if (PyBool_Check(value)) return Leaf::boolean;
  if (PyUnicode_Check(value) || PyBytes_Check(value)) return Leaf::text;
  if (converts_itself(value)) return Leaf::tensor;
  if (is_list(value)) return Leaf::nested;
  if (is_ndarray(value)) return Leaf::array;
  if (is_numpy_scalar(value)) return leaf_of_numpy_scalar(value);
  if (PyLong_Check(value)) return Leaf::integer;
  if (PyFloat_Check(value)) return Leaf::real;
  if (PyComplex_Check(value)) return Leaf::complex;
  if (PyObject_CheckBuffer(value)) return Leaf::array;
  if (PyIndex_Check(value)) return Leaf::integer;
  return PySequence_Check(value) && !PyDict_Check(value) ? Leaf::array : Leaf::other;
}

[[noreturn]] void raise_mixed() {
  raise(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
}
[[noreturn]] void raise_ragged() {
  raise(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
}
[[noreturn]] void raise_integer_range() {
  raise(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
}

/// How an element fits the dtype being written.
enum class Fit {
  yes,
  wider_integer,  // int32 does not hold it
  real,           // a float among integers
  parts,          // a tensor or an array: the list is put together from parts
  no,
};

Fit misfit(Leaf leaf) {
  switch (leaf) {
    case Leaf::tensor:
    case Leaf::array:
      return Fit::parts;
    case Leaf::nested:
      raise_ragged();
    case Leaf::real:
    case Leaf::wide_real:
      return Fit::real;
    default:
      return Fit::no;
  }
}

/// The value of any integer-like object; false: outside of 64 bits. uint64 takes the upper half.
bool read_integer(PyObject* value, bool is_unsigned, int64_t& out) {
  const Ref number =
      PyLong_CheckExact(value) ? Ref::borrow(value) : Ref::checked(PyNumber_Index(value));
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow == 0) {
    if (out == -1 && PyErr_Occurred()) throw PythonError{};
    return true;
  }
  if (overflow < 0 || !is_unsigned) return false;
  const unsigned long long large = PyLong_AsUnsignedLongLong(number.get());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  out = static_cast<int64_t>(large);
  return true;
}

double read_real(PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw PythonError{};
    PyErr_Clear();
    raise_integer_range();
  }
  return number;
}

template <class T>
T narrowed(double value) {
  return static_cast<T>(value);
}
template <>
Half narrowed(double value) {
  return Half(static_cast<float>(value));
}
template <>
BFloat16 narrowed(double value) {
  return BFloat16(static_cast<float>(value));
}
template <>
float narrowed(double value) {
  const auto out = static_cast<float>(value);
  if (std::isinf(out) && !std::isinf(value)) {
    raise(PyExc_ValueError,
          "Can't convert Python sequence with a value out of range for a double-precision float.");
  }
  return out;
}

/// Integers of type T. With `guess` int32 that overflows and floats are reported, not refused;
/// without, larger values wrap around as in TensorFlow.
template <class T>
struct IntegerWriter {
  using Value = T;
  bool guess;

  Fit operator()(PyObject* item, T& out) const {
    if (PyLong_CheckExact(item)) [[likely]] {
      int overflow = 0;
      const long value = PyLong_AsLongAndOverflow(item, &overflow);
      if (overflow == 0 && (!guess || static_cast<long>(static_cast<T>(value)) == value)) {
        out = static_cast<T>(value);
        return Fit::yes;
      }
    }
    return slow(item, out);
  }
  [[gnu::noinline]] Fit slow(PyObject* item, T& out) const {
    const Leaf leaf = leaf_of(item);
    if (leaf != Leaf::integer && leaf != Leaf::boolean) return misfit(leaf);
    int64_t value = 0;
    if (leaf == Leaf::boolean) {
      value = PyObject_IsTrue(item);
    } else if (!read_integer(item, std::is_same_v<T, uint64_t>, value)) {
      raise_integer_range();
    }
    out = static_cast<T>(value);
    if (guess && static_cast<int64_t>(out) != value) return Fit::wider_integer;
    return Fit::yes;
  }
};

template <class T>
struct RealWriter {
  using Value = T;

  Fit operator()(PyObject* item, T& out) const {
    if (PyFloat_CheckExact(item)) [[likely]] {
      out = narrowed<T>(PyFloat_AS_DOUBLE(item));
      return Fit::yes;
    }
    const Leaf leaf = leaf_of(item);
    if (leaf != Leaf::integer && leaf != Leaf::boolean && leaf != Leaf::real &&
        leaf != Leaf::wide_real) {
      return misfit(leaf);
    }
    out = narrowed<T>(read_real(item));
    return Fit::yes;
  }
};

template <class T>
struct ComplexWriter {
  using Value = std::complex<T>;

  Fit operator()(PyObject* item, std::complex<T>& out) const {
    const Leaf leaf = leaf_of(item);
    if (leaf > Leaf::complex) return misfit(leaf) == Fit::parts ? Fit::parts : Fit::no;
    const Py_complex value = PyComplex_AsCComplex(item);
    if (value.real == -1.0 && PyErr_Occurred()) throw PythonError{};
    out = {static_cast<T>(value.real), static_cast<T>(value.imag)};
    return Fit::yes;
  }
};

struct BoolWriter {
  using Value = bool;

  Fit operator()(PyObject* item, bool& out) const {
    const Leaf leaf = leaf_of(item);
    if (leaf != Leaf::boolean) return misfit(leaf) == Fit::parts ? Fit::parts : Fit::no;
    out = PyObject_IsTrue(item) == 1;
    return Fit::yes;
  }
};

/// The characters stay those of the Python strings, which the list keeps alive.
struct TextWriter {
  using Value = std::string_view;

  Fit operator()(PyObject* item, std::string_view& out) const {
    Py_ssize_t size = 0;
    if (PyUnicode_Check(item)) {
      const char* text = PyUnicode_AsUTF8AndSize(item, &size);
      if (!text) throw PythonError{};
      out = {text, static_cast<size_t>(size)};
      return Fit::yes;
    }
    if (PyBytes_Check(item)) {
      out = {PyBytes_AS_STRING(item), static_cast<size_t>(PyBytes_GET_SIZE(item))};
      return Fit::yes;
    }
    return misfit(leaf_of(item)) == Fit::parts ? Fit::parts : Fit::no;
  }
};

/// Writes the elements of a nested list of the given sizes. Elements may run Python code that
/// changes the list, so sizes are checked again at every level and items are held.
template <class Writer>
class Walk {
 public:
  Walk(const Writer& writer, const Shape& shape, typename Writer::Value* out)
      : writer_(writer), shape_(shape), out_(out) {}

  Fit run(PyObject* value, int depth = 0) {
    if (depth == shape_.rank()) return write(value);
    if (!is_list(value)) {
      const Leaf leaf = leaf_of(value);
      if (leaf == Leaf::tensor || leaf == Leaf::array) return Fit::parts;
      raise_ragged();
    }
    const bool is_last = depth + 1 == shape_.rank();
    for (int64_t i = 0; i < shape_[depth]; ++i) {
      if (PySequence_Fast_GET_SIZE(value) != shape_[depth]) raise_ragged();
      const Ref item = Ref::borrow(PySequence_Fast_GET_ITEM(value, i));
      const Fit fit = is_last ? write(item.get()) : run(item.get(), depth + 1);
      if (fit != Fit::yes) return fit;
    }
    if (PySequence_Fast_GET_SIZE(value) != shape_[depth]) raise_ragged();
    return Fit::yes;
  }

 private:
  Fit write(PyObject* item) { return writer_(item, *out_++); }

  const Writer& writer_;
  const Shape& shape_;
  typename Writer::Value* out_;
};

/// Sizes along the first elements, and the first element that is no list (null: there is none).
PyObject* measure(PyObject* list, Shape& shape) {
  PyObject* at = list;
  while (is_list(at)) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(at);
    if (shape.rank() == 64) raise(PyExc_ValueError, "a list is nested more than 64 levels deep");
    shape.push_back(size);
    if (size == 0) return nullptr;
    at = PySequence_Fast_GET_ITEM(at, 0);
  }
  return at;
}

template <class Writer>
Fit fill(PyObject* list, const Shape& shape, const Writer& writer, Tensor& out) {
  out = new_tensor(dtype_of<typename Writer::Value>(), shape);
  auto* data = static_cast<typename Writer::Value*>(out.mutable_raw_data());
  return Walk<Writer>(writer, shape, data).run(list);
}

Fit fill_strings(PyObject* list, const Shape& shape, Tensor& out) {
  std::vector<std::string_view> texts(static_cast<size_t>(shape.num_elements()));
  const Fit fit = Walk<TextWriter>(TextWriter{}, shape, texts.data()).run(list);
  if (fit == Fit::yes) out = Tensor::of_strings(texts, shape);
  return fit;
}

Fit fill_as(DType dtype, PyObject* list, const Shape& shape, bool guess, Tensor& out) {
  switch (dtype) {
    case DType::bool_:
      return fill(list, shape, BoolWriter{}, out);
    case DType::int8:
      return fill(list, shape, IntegerWriter<int8_t>{guess}, out);
    case DType::uint8:
      return fill(list, shape, IntegerWriter<uint8_t>{guess}, out);
    case DType::int16:
      return fill(list, shape, IntegerWriter<int16_t>{guess}, out);
    case DType::uint16:
      return fill(list, shape, IntegerWriter<uint16_t>{guess}, out);
    case DType::int32:
      return fill(list, shape, IntegerWriter<int32_t>{guess}, out);
    case DType::uint32:
      return fill(list, shape, IntegerWriter<uint32_t>{guess}, out);
    case DType::int64:
      return fill(list, shape, IntegerWriter<int64_t>{guess}, out);
    case DType::uint64:
      return fill(list, shape, IntegerWriter<uint64_t>{guess}, out);
    case DType::float16:
      return fill(list, shape, RealWriter<Half>{}, out);
    case DType::bfloat16:
      return fill(list, shape, RealWriter<BFloat16>{}, out);
    case DType::float32:
      return fill(list, shape, RealWriter<float>{}, out);
    case DType::float64:
      return fill(list, shape, RealWriter<double>{}, out);
    case DType::complex64:
      return fill(list, shape, ComplexWriter<float>{}, out);
    case DType::complex128:
      return fill(list, shape, ComplexWriter<double>{}, out);
    case DType::string:
      return fill_strings(list, shape, out);
    case DType::invalid:
      break;
  }
  return Fit::no;
}

DType guessed_dtype(PyObject* first) {
  if (!first) return DType::float32;  // an empty list, as in TensorFlow
  switch (leaf_of(first)) {
    case Leaf::boolean:
      return DType::bool_;
    case Leaf::integer:
      return DType::int32;
    case Leaf::real:
      return DType::float32;
    case Leaf::wide_real:
      return DType::float64;
    case Leaf::complex:
      return DType::complex128;
    case Leaf::text:
      return DType::string;
    case Leaf::tensor:
    case Leaf::array:
    case Leaf::nested:
      return DType::invalid;
    case Leaf::other:
      break;
  }
  raise_unsupported(first);
}

/// Holds what was converted already, or says that parts are needed.
Fit fill_guessing(PyObject* list, const Shape& shape, PyObject* first, Tensor& out) {
  DType dtype = guessed_dtype(first);
  if (dtype == DType::invalid) return Fit::parts;
  for (;;) {
    const Fit fit = fill_as(dtype, list, shape, true, out);
    if (fit == Fit::wider_integer) {
      dtype = DType::int64;
    } else if (fit == Fit::real && is_integer(dtype)) {
      dtype = DType::float32;
    } else {
      return fit;
    }
  }
}

template <class Writer>
Tensor scalar_as(PyObject* value, const Writer& writer) {
  typename Writer::Value element{};
  const Fit fit = writer(value, element);
  if (fit != Fit::yes) return {};
  if constexpr (std::is_same_v<typename Writer::Value, std::string_view>) {
    return Tensor::of_strings(std::span(&element, 1), Shape{});
  } else {
    return Tensor::of(std::span<const typename Writer::Value>(&element, 1), Shape{});
  }
}

Tensor guessed_scalar(PyObject* value, Leaf leaf) {
  switch (leaf) {
    case Leaf::boolean:
      return scalar_as(value, BoolWriter{});
    case Leaf::integer:
      if (Tensor t = scalar_as(value, IntegerWriter<int32_t>{true})) return t;
      return scalar_as(value, IntegerWriter<int64_t>{true});
    case Leaf::real:
      return scalar_as(value, RealWriter<float>{});
    case Leaf::wide_real:
      return scalar_as(value, RealWriter<double>{});
    case Leaf::complex:
      return scalar_as(value, ComplexWriter<double>{});
    default:
      return scalar_as(value, TextWriter{});
  }
}

}  // namespace

Tensor tensor_from_scalar(PyObject* value, DType dtype) {
  if (PyFloat_CheckExact(value) && dtype == DType::float32) [[likely]] {
    return Tensor(narrowed<float>(PyFloat_AS_DOUBLE(value)));
  }
  const Leaf leaf = leaf_of(value);
  if (leaf > Leaf::text) return {};
  if (dtype == DType::invalid) return guessed_scalar(value, leaf);
  Tensor out;
  if (fill_as(dtype, value, Shape{}, false, out) != Fit::yes) raise_cannot_convert(value, dtype);
  return out;
}

Tensor tensor_from_list(PyObject* list, ConvertOptions options) {
  Shape shape;
  const Ref first = Ref::borrow(measure(list, shape));
  Tensor out;
  if (options.dtype == DType::invalid) {
    const Fit fit = fill_guessing(list, shape, first.get(), out);
    if (fit == Fit::parts) return tensor_from_parts(list, options);
    if (fit != Fit::yes) raise_mixed();
    return out;
  }
  const Leaf leaf = first ? leaf_of(first.get()) : Leaf::integer;
  if (leaf == Leaf::tensor || leaf == Leaf::array) return tensor_from_parts(list, options);
  if (leaf == Leaf::other) raise_unsupported(first.get());
  const Fit fit = fill_as(options.dtype, list, shape, false, out);
  if (fit == Fit::parts) return tensor_from_parts(list, options);
  if (fit != Fit::yes) raise_cannot_convert(list, options.dtype);
  return out;
}

}  // namespace tidemark::python
