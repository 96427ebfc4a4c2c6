// DLPack: tensors shared with other frameworks, both ways.
#include <cstring>
#include <memory>
#include <optional>

#include "calls.h"
#include "tidemark/base/backend.h"
#include "tidemark/tensor/storage.h"

#include "convert.h"
#include "dlpack.h"
#include "errors.h"
#include "interpreter_lock.h"
#include "mapped_memory.h"
#include "op_call.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

// The C structures of the DLPack standard, version 1.
struct DlDevice {
  int32_t type;
  int32_t id;
};
struct DlType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlArray {
  void* data;
  DlDevice device;
  int32_t ndim;
  DlType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct ManagedOld {
  DlArray array;
  void* context;
  void (*deleter)(ManagedOld*);
};
struct Version {
  uint32_t major;
  uint32_t minor;
};
struct Managed {
  Version version;
  void* context;
  void (*deleter)(Managed*);
  uint64_t flags;
  DlArray array;
};
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;
constexpr int32_t kCpu = 1, kCuda = 2;
constexpr const char* kOldName = "dltensor";
constexpr const char* kOldUsedName = "used_dltensor";
constexpr const char* kName = "dltensor_versioned";
constexpr const char* kUsedName = "used_dltensor_versioned";

enum TypeCode : uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

DlType dl_type(DType dtype) {
  uint8_t code = kInt;
  if (dtype == DType::bool_) {
    code = kBool;
  } else if (dtype == DType::bfloat16) {
    code = kBfloat;
  } else if (is_floating(dtype)) {
    code = kFloat;
  } else if (is_complex(dtype)) {
    code = kComplex;
  } else if (kUnsignedInts.contains(dtype)) {
    code = kUint;
  }
  return {code, static_cast<uint8_t>(size_of(dtype) * 8), 1};
}

DType dtype_of_dl(DlType type) {
  for (int i = 1; i < kDTypeSlots; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (size_of(dtype) == 0 || dtype == DType::string) continue;
    const DlType mine = dl_type(dtype);
    if (mine.code == type.code && mine.bits == type.bits && type.lanes == 1) return dtype;
  }
  raise(PyExc_BufferError, "no dtype for DLPack's type code %d with %d bits and %d lanes",
        int{type.code}, int{type.bits}, int{type.lanes});
}

/// What a consumer holds: the tensor, and the sizes the structure points to.
template <class M>
struct ExportedTensor {
  M managed{};
  Tensor tensor;
  std::vector<int64_t> sizes;
};

/// As others know the device; none: they cannot use its memory.
std::optional<ForeignDevice> foreign_of(Device device) {
  if (device.is_cpu()) return ForeignDevice{kCpu, 0, 0};
  return accelerator_of(device).foreign();
}

/// Memory that went over to somebody else is not in use any longer: not by them, whose streams we
/// do not know, and not by us.
void wait_for_users(Device device) noexcept {
  if (device.is_cpu()) return;
  try {
    accelerator_of(device).wait_for_everyone();
  } catch (...) {
    // A device that fails says so to whoever waits for results.
  }
}

/// t: where foreign_of() knows it.
template <class M>
ExportedTensor<M>* export_tensor(const Tensor& t) {
  auto exported = std::make_unique<ExportedTensor<M>>();
  const int rank = t.rank();
  exported->tensor = t;
  exported->sizes.resize(static_cast<size_t>(2 * rank) + 1);
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    exported->sizes[static_cast<size_t>(i)] = t.dim(i);
    exported->sizes[static_cast<size_t>(rank + i)] = stride;
    stride *= t.dim(i);
  }
  const ForeignDevice place = *foreign_of(t.device());
  exported->managed.array = {
      const_cast<void*>(t.raw_data()), {place.kind, place.number},    rank, dl_type(t.dtype()),
      exported->sizes.data(),          exported->sizes.data() + rank, 0};
  exported->managed.context = exported.get();
  exported->managed.deleter = [](M* managed) {
    auto* own = static_cast<ExportedTensor<M>*>(managed->context);
    wait_for_users(own->tensor.device());
    delete own;
  };
  return exported.release();
}

/// For capsules nobody took.
template <class M>
void drop_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (managed && managed->deleter) managed->deleter(managed);
}

template <class M>
PyObject* capsule_of(ExportedTensor<M>* exported, const char* name,
                     PyCapsule_Destructor destructor) {
  PyObject* capsule = PyCapsule_New(&exported->managed, name, destructor);
  if (!capsule) delete exported;
  return capsule;
}

bool wants_versioned(PyObject* max_version) {
  if (max_version == Py_None) return false;
  int major = 0;
  int minor = 0;
  if (!PyTuple_Check(max_version) || !PyArg_ParseTuple(max_version, "ii", &major, &minor)) {
    raise(PyExc_TypeError, "max_version is a pair of integers; %R was given", max_version);
  }
  return major >= 1;
}

/// Where a tensor is handed out: where it lies, unless others cannot use that or ask for the host.
struct ExportPlace {
  Device device;
  bool is_elsewhere = false;

  ExportPlace(Device own, PyObject* asked) : device(own) {
    const std::optional<ForeignDevice> known = foreign_of(own);
    int kind = known ? known->kind : kCpu, number = known ? known->number : 0;
    if (asked != Py_None &&
        (!PyTuple_Check(asked) || !PyArg_ParseTuple(asked, "ii", &kind, &number))) {
      raise(PyExc_TypeError, "dl_device is a pair of integers; %R was given", asked);
    }
    is_elsewhere = !known || kind != known->kind || number != known->number;
    if (is_elsewhere && kind != kCpu) {
      raise(PyExc_BufferError,
            "a tensor on %s can be handed out there or on the CPU (1, 0); %R was given",
            own.name().c_str(), asked);
    }
    if (is_elsewhere) device = Device();
  }
};

Tensor copy_of(const Tensor& from) {
  const Tensor to = new_tensor(from.dtype(), from.shape(), memory::Holder::value, 0, from.device());
  if (from.nbytes() > 0) copy_elements(from, to);
  return to;
}

/// What computes the elements has ended before somebody else reads them; -1: they see to it.
void finish_for(Device device, PyObject* stream) {
  if (device.is_cpu() || (PyLong_Check(stream) && PyLong_AsLong(stream) == -1)) return;
  Accelerator& accelerator = accelerator_of(device);
  const Unlocked unlocked;
  for (Stream* one : {&accelerator.upload_stream(), &accelerator.stream()}) one->wait(one->now());
}

/// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
PyObject* to_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
    static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", const_cast<char**>(names),
                                     &stream, &max_version, &device, &copy)) {
      throw PythonError{};
    }
    const Tensor own = tensor_of(self);
    check_has_value(own, "__dlpack__()");
    if (own.dtype() == DType::string) raise(PyExc_BufferError, "DLPack knows no strings");
    const ExportPlace place(own.device(), device);
    const bool is_copy = copy == Py_True || place.is_elsewhere;
    if (place.is_elsewhere && copy == Py_False) {
      raise(PyExc_BufferError,
            "a tensor on %s is handed out as a copy on %s; copy=False forbids one",
            own.device().name().c_str(), place.device.name().c_str());
    }
    Tensor t = copied_to(own, place.device);
    if (is_copy && !place.is_elsewhere) t = copy_of(t);
    finish_for(t.device(), stream);
    if (!wants_versioned(max_version)) {
      return capsule_of(export_tensor<ManagedOld>(t), kOldName,
                        [](PyObject* c) { drop_capsule<ManagedOld>(c, kOldName); });
    }
    ExportedTensor<Managed>* exported = export_tensor<Managed>(t);
    exported->managed.version = {1, 0};
    exported->managed.flags = is_copy ? kIsCopied : kReadOnly;
    return capsule_of(exported, kName, [](PyObject* c) { drop_capsule<Managed>(c, kName); });
  });
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const auto place = foreign_of(tensor_of(self).device()).value_or(ForeignDevice{kCpu, 0, 0});
    return Py_BuildValue("(ii)", place.kind, place.number);
  });
}

bool is_there(Device device, uintptr_t base, const Reach& reach) {
  if (device.is_cpu()) return is_mapped_memory(base, reach);
  const uintptr_t first = base + static_cast<uintptr_t>(reach.low);
  return accelerator_of(device).has_bytes(reinterpret_cast<const void*>(first),
                                          static_cast<size_t>(reach.high - reach.low));
}

/// Opens it where that was not done before.
Device device_of_dl(const DlDevice& device) {
  if (device.type == kCpu) return Device();
  if (device.type == kCuda) return Device::named(message("gpu:", device.id));
  raise(
      PyExc_BufferError,
      "a DLPack array on device type %d: memory of the CPU (1) and of CUDA's GPUs (2) can be read",
      device.type);
}

/// The sizes an array says it has; throws BufferError when they or its memory cannot be.
Shape checked_shape(const DlArray& array, DType dtype, Device device) {
  if (array.ndim < 0 || array.ndim > 64 || (array.ndim > 0 && !array.shape)) {
    raise(PyExc_BufferError, "a DLPack array of %d dimensions is malformed", array.ndim);
  }
  Shape shape;
  for (int i = 0; i < array.ndim; ++i) {
    if (array.shape[i] < 0) raise(PyExc_BufferError, "a DLPack array has a negative dimension");
    shape.push_back(array.shape[i]);
  }
  const auto rank = static_cast<size_t>(shape.rank());
  std::span<const int64_t> strides;
  if (array.strides) strides = {array.strides, rank};
  const auto item = static_cast<int64_t>(size_of(dtype));
  Reach reach;
  if (!find_reach(shape.dims(), strides, item, item, reach)) {
    raise(PyExc_BufferError, "a DLPack array of shape %s is too large", shape.to_string().c_str());
  }
  if (reach.high == 0) return shape;  // no elements
  const auto base = reinterpret_cast<uintptr_t>(array.data);
  if (!array.data || base + array.byte_offset < base ||
      !is_there(device, base + array.byte_offset, reach)) {
    raise(PyExc_BufferError, "the memory of a DLPack array of shape %s is not there",
          shape.to_string().c_str());
  }
  return shape;
}

bool is_dense(const DlArray& array, const Shape& shape) {
  if (!array.strides || shape.num_elements() == 0) return true;
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && array.strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

void copy_strided(const DlArray& array, const char* from, char* to, const Shape& shape) {
  const auto size = static_cast<int64_t>(array.dtype.bits / 8);
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (int64_t n = shape.num_elements(); n > 0; --n, to += size) {
    int64_t offset = 0;
    for (int i = 0; i < shape.rank(); ++i) {
      offset += index[static_cast<size_t>(i)] * array.strides[i];
    }
    std::memcpy(to, from + offset * size, static_cast<size_t>(size));
    for (int i = shape.rank() - 1; i >= 0; --i) {
      if (++index[static_cast<size_t>(i)] < shape[i]) break;
      index[static_cast<size_t>(i)] = 0;
    }
  }
}

/// Of a structure whose elements a tensor was made over.
template <class M>
void give_back(void* raw) {
  auto* managed = static_cast<M*>(raw);
  if (!managed->deleter) return;
  if (managed->array.device.type != kCpu) wait_for_users(device_of_dl(managed->array.device));
  let_go([managed] { managed->deleter(managed); });
}

/// Takes over the managed structure: given back when the tensor goes, or here.
template <class M>
Tensor adopt(M* managed, bool copy) {
  struct GiveBack {
    M* managed;
    ~GiveBack() {
      if (!managed || !managed->deleter) return;
      // The deleter may run Python, which must not see the error we are about to raise.
      PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
      PyErr_Fetch(&type, &value, &trace);
      managed->deleter(managed);
      PyErr_Restore(type, value, trace);
    }
  } owner{managed};
  const DlArray& array = managed->array;
  const Device device = device_of_dl(array.device);
  const DType dtype = dtype_of_dl(array.dtype);
  const Shape shape = checked_shape(array, dtype, device);
  char* data = array.data ? static_cast<char*>(array.data) + array.byte_offset : nullptr;
  const bool dense = is_dense(array, shape);
  const bool is_aligned = reinterpret_cast<uintptr_t>(data) % size_of(dtype) == 0;
  const bool is_lent = dense && is_aligned && shape.num_elements() > 0;
  if (!device.is_cpu() && !is_lent && shape.num_elements() > 0) {
    raise(PyExc_BufferError,
          "a DLPack array on %s with gaps between its elements; make it contiguous first",
          device.name().c_str());
  }
  if (is_lent && (!copy || !device.is_cpu())) {
    owner.managed = nullptr;
    const Tensor lent = borrowed_tensor(dtype, shape, data, true, give_back<M>, managed, device);
    return copy ? copy_of(lent) : lent;
  }
  Tensor out = new_tensor(dtype, shape);
  if (dense && out.nbytes() > 0) {
    std::memcpy(out.mutable_raw_data(), data, out.nbytes());
  } else if (!dense) {
    copy_strided(array, data, static_cast<char*>(out.mutable_raw_data()), shape);
  }
  return out;
}

template <class M>
Tensor adopt_capsule(PyObject* capsule, const char* name, const char* used, bool copy) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (!managed) throw PythonError{};
  check(PyCapsule_SetName(capsule, used));
  return adopt(managed, copy);
}

Tensor tensor_from_capsule(PyObject* capsule, bool copy) {
  if (PyCapsule_IsValid(capsule, kName)) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName));
    if (managed->version.major > 1) {
      raise(PyExc_BufferError, "DLPack version %u is newer than 1",
            unsigned{managed->version.major});
    }
    return adopt_capsule<Managed>(capsule, kName, kUsedName, copy);
  }
  if (PyCapsule_IsValid(capsule, kOldName)) {
    return adopt_capsule<ManagedOld>(capsule, kOldName, kOldUsedName, copy);
  }
  raise(PyExc_ValueError, "%R is no DLPack capsule, or one that was used before", capsule);
}

/// Our stream on the device where the object's elements lie, which it makes wait for them; None: it
/// has none.
Ref stream_for(PyObject* value) {
  const Ref place = Ref::steal(call_method(value, "__dlpack_device__"));
  DlDevice device{kCpu, 0};
  if (!place || !PyArg_ParseTuple(place.get(), "ii", &device.type, &device.id)) PyErr_Clear();
  if (device.type != kCuda) return Ref::borrow(Py_None);
  return Ref::checked(PyLong_FromUnsignedLongLong(foreign_of(device_of_dl(device))->stream));
}

Ref capsule_from(PyObject* value) {
  const Ref method = Ref::checked(PyObject_GetAttrString(value, "__dlpack__"));
  const Ref nothing = Ref::checked(PyTuple_New(0));
  const Ref stream = stream_for(value);
  const Ref version =
      Ref::checked(Py_BuildValue("{s(ii)sO}", "max_version", 1, 0, "stream", stream.get()));
  Ref capsule = Ref::steal(call_object_with(method.get(), nothing.get(), version.get()));
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {  // an exporter of the first standard
    PyErr_Clear();
    capsule = Ref::steal(call_object_with(method.get(), nothing.get()));
  }
  if (!capsule) throw PythonError{};
  return capsule;
}

PyObject* from_dlpack(PyObject*, PyObject* value) {
  return guarded([&]() -> PyObject* {
    const MakingConstant making;
    if (PyCapsule_CheckExact(value)) {
      Tensor t = tensor_from_capsule(value, false);
      wait_for_users(t.device());  // whoever made it could not tell our stream to wait
      return wrap(std::move(t));
    }
    return wrap(tensor_from_dlpack(value, false));
  });
}

PyObject* to_dlpack_function(PyObject*, PyObject* value) {
  if (!is_tensor(value)) {
    PyErr_Format(PyExc_TypeError, "to_dlpack takes a Tensor; %R was given", value);
    return nullptr;
  }
  return call_method(value, "__dlpack__");
}

}  // namespace

Tensor tensor_from_dlpack(PyObject* value, bool copy) {
  const Ref capsule = capsule_from(value);
  return tensor_from_capsule(capsule.get(), copy);
}

PyMethodDef dlpack_methods[] = {
    {"__dlpack__", with_keywords(to_dlpack), METH_VARARGS | METH_KEYWORDS,
     "The elements, shared, as a DLPack capsule."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "Where the elements lie, as DLPack numbers it: (1, 0) is the CPU."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef dlpack_functions[] = {
    {"from_dlpack", from_dlpack, METH_O,
     "A tensor that shares the memory of an object with `__dlpack__`, or of a DLPack capsule."},
    {"to_dlpack", to_dlpack_function, METH_O, "The tensor as a DLPack capsule."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
