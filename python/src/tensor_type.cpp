#include "tensor_type.h"

#include <structmember.h>

#include <cctype>
#include <new>
#include <vector>

#include "tidemark/graph/donated.h"
#include "tidemark/tensor/storage.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"

namespace tidemark::python {

PyTypeObject* tensor_type = nullptr;

namespace {

constexpr int kMostFree = 256;
/// Dead instances of exactly Tensor that still own a reference to their type. Guarded by the GIL.
PyTensor* free_list[kMostFree];
int free_count = 0;

PyTensor* self_of(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

PyTensor* new_instance() noexcept {
  if (free_count > 0) [[likely]] {
    PyTensor* self = free_list[--free_count];
    Py_SET_REFCNT(&self->ob_base, 1);
    return self;
  }
  return PyObject_GC_New(PyTensor, tensor_type);
}

void dealloc(PyObject* object) {
  PyTensor* self = self_of(object);
  PyTypeObject* type = Py_TYPE(object);
  if (self->dict || type != tensor_type) [[unlikely]]
    PyObject_GC_UnTrack(object);
  if (self->weakrefs) [[unlikely]]
    PyObject_ClearWeakRefs(object);
  if (self->dict) [[unlikely]]
    Py_CLEAR(self->dict);
  self->value.~Tensor();
  if (type == tensor_type && free_count < kMostFree) [[likely]] {
    free_list[free_count++] = self;
    return;
  }
  type->tp_free(object);
  Py_DECREF(type);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->dict);
  return 0;
}

int clear(PyObject* object) {
  // `dealloc` takes an instance without a __dict__ for one that the collector does not know.
  if (Py_TYPE(object) == tensor_type) PyObject_GC_UnTrack(object);
  Py_CLEAR(self_of(object)->dict);
  return 0;
}

/// An instance with a __dict__ can be part of a cycle.
void track_if_needed(PyObject* object) {
  if (self_of(object)->dict && !PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
}

int set_attribute(PyObject* object, PyObject* name, PyObject* value) {
  const int status = PyObject_GenericSetAttr(object, name, value);
  track_if_needed(object);
  return status;
}

PyObject* get_dict(PyObject* object, void* closure) {
  PyObject* dict = PyObject_GenericGetDict(object, closure);
  track_if_needed(object);
  return dict;
}

/// Tensor(value): for subclasses. The new object shares the converted value's elements.
PyObject* new_tensor_object(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject* value = nullptr;
    static const char* names[] = {"value", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Tensor", const_cast<char**>(names),
                                     &value)) {
      throw PythonError{};
    }
    const Ref converted = Ref::steal(convert(value, {}));
    if (type == tensor_type) return Py_NewRef(converted.get());
    PyObject* object = Ref::checked(type->tp_alloc(type, 0)).release();
    new (&self_of(object)->value) Tensor(tensor_of(converted.get()));
    return object;
  });
}

/// A tensor of a graph can be a key, as what sessions are fed is given in a dict.
Py_hash_t hash(PyObject* self) {
  if (tensor_of(self).is_symbolic()) {
    return static_cast<Py_hash_t>(id_of(tensor_of(self)) & static_cast<uint64_t>(PY_SSIZE_T_MAX));
  }
  PyErr_SetString(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
  return -1;
}

PyObject* get_dtype(PyObject* self, void*) { return dtype_object(tensor_of(self).dtype()); }
PyObject* get_shape(PyObject* self, void*) { return shape_object(tensor_of(self).shape()); }
PyObject* get_dtype_enum(PyObject* self, void*) {
  return PyLong_FromLong(static_cast<long>(tensor_of(self).dtype()));
}
PyObject* get_ndim(PyObject* self, void*) {
  const Shape& shape = tensor_of(self).shape();
  if (!shape.has_rank()) Py_RETURN_NONE;
  return PyLong_FromLong(shape.rank());
}
PyObject* get_nbytes(PyObject* self, void*) { return PyLong_FromSize_t(tensor_of(self).nbytes()); }
PyObject* get_size(PyObject* self, void*) {
  const Tensor& t = tensor_of(self);
  if (is_symbolic(t) && !t.shape().is_fully_known()) Py_RETURN_NONE;
  return PyLong_FromLongLong(t.num_elements());
}
/// As TensorFlow writes it: the kind in capital letters.
PyObject* full_device_name(Device device) {
  std::string name = device.name();
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return PyUnicode_FromFormat("/job:localhost/replica:0/task:0/device:%s", name.c_str());
}

PyObject* get_device(PyObject* self, void*) {
  if (is_symbolic(tensor_of(self))) return PyUnicode_FromString("");
  const Device device = tensor_of(self).device();
  if (!device.is_cpu()) return full_device_name(device);
  static PyObject* const name = interned("/job:localhost/replica:0/task:0/device:CPU:0");
  return Py_NewRef(name);
}
PyObject* get_is_symbolic(PyObject* self, void*) {
  return PyBool_FromLong(is_symbolic(tensor_of(self)));
}
PyObject* get_address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(const_cast<void*>(tensor_of(self).raw_data()));
}
PyObject* get_read_only(PyObject* self, void*) {
  return PyBool_FromLong(tensor_of(self).impl()->read_only);
}

PyGetSetDef properties[] = {
    {"dtype", get_dtype, nullptr, "The `DType` of the elements.", nullptr},
    {"shape", get_shape, nullptr, "The `TensorShape`.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"device", get_device, nullptr, "Where the elements are.", nullptr},
    {"_dtype_enum", get_dtype_enum, nullptr, "The dtype's number.", nullptr},
    {"_num_elements", get_size, nullptr, "How many elements there are.", nullptr},
    {"_nbytes", get_nbytes, nullptr, "Bytes of the elements.", nullptr},
    {"_is_symbolic", get_is_symbolic, nullptr, "Whether the value is not there yet.", nullptr},
    {"_data_address", get_address, nullptr, "Address of the first element.", nullptr},
    {"_read_only", get_read_only, nullptr, "Whether the memory belongs to a read-only owner.",
     nullptr},
    {"numpy", numpy_method, nullptr, numpy_doc, nullptr},
    {"__dict__", get_dict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* get_shape_tuple(PyObject* self, PyObject*) {
  return shape_tuple(tensor_of(self).shape());
}
/// Tensors are immutable, so a copy may be the tensor itself, as in TensorFlow.
PyObject* copy(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyMethodDef common_methods[] = {
    {"_shape_tuple", get_shape_tuple, METH_NOARGS, "The sizes as a tuple."},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", copy, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

template <class T>
void append(std::vector<T>& out, const T* items, bool (*is_end)(const T&)) {
  for (; !is_end(*items); ++items) out.push_back(*items);
}

/// The type keeps pointers into it, so it lives as long as the process.
std::vector<PyMethodDef>& all_methods() {
  static auto* methods = [] {
    auto* out = new std::vector<PyMethodDef>;
    for (const PyMethodDef* part :
         {common_methods, scalar_methods, numpy_methods, dlpack_methods, pickle_methods}) {
      append<PyMethodDef>(*out, part, [](const PyMethodDef& m) { return m.ml_name == nullptr; });
    }
    out->push_back({nullptr, nullptr, 0, nullptr});
    return out;
  }();
  return *methods;
}

}  // namespace

PyObject* wrap(Tensor&& value) noexcept {
  PyTensor* self = new_instance();
  if (!self) [[unlikely]]
    return nullptr;
  new (&self->value) Tensor(std::move(value));
  self->weakrefs = nullptr;
  self->dict = nullptr;
  return &self->ob_base;
}

PyObject* wrap_list(std::span<Tensor> values) {
  Ref list = Ref::checked(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* item = Ref::checked(wrap(std::move(values[i]))).release();
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

void check_has_value(const Tensor& t, const char* what, PyObject* error) {
  if (!is_symbolic(t)) return;
  if (graph::is_donated(t)) {
    fail<FailedPreconditionError>("[", what, "] ", graph::describe_donated(t));
  }
  raise(value_unknown(error),
        "%s needs a value, and a tensor of a graph that is being built has none yet: run the graph "
        "first, or use TensorFlow operations instead",
        what);
}

void initialize_tensor_type(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_new, reinterpret_cast<void*>(new_tensor_object)},
      {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_getset, properties},
      {Py_tp_members, members},
      {Py_tp_methods, all_methods().data()},
      {Py_tp_doc, const_cast<char*>("A dense array of elements of one dtype, never changed.")},
  };
  for (const PyType_Slot* part : {number_slots, scalar_slots, indexing_slots, buffer_slots}) {
    append<PyType_Slot>(slots, part, [](const PyType_Slot& s) { return s.slot == 0; });
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec{"tidemark.Tensor", static_cast<int>(sizeof(PyTensor)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  PyObject* type = Ref::checked(PyType_FromSpec(&spec)).release();
  tensor_type = reinterpret_cast<PyTypeObject*>(type);
  const Ref priority = Ref::checked(PyLong_FromLong(100));
  check(PyObject_SetAttrString(type, "__array_priority__", priority.get()));
  check(PyModule_AddObjectRef(module, "Tensor", type));
}

}  // namespace tidemark::python
