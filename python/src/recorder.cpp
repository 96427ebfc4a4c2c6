#include "recorder.h"
#include "calls.h"

#include "tidemark/tensor/storage.h"

#include "convert.h"
#include "frontend.h"
#include "interpreter_lock.h"
#include "op_call.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace tidemark::python {

namespace {

class PythonBackward final : public autodiff::CustomBackward {
 public:
  explicit PythonBackward(PyObject* function) : function_(Py_NewRef(function)) {}
  ~PythonBackward() override {
    let_go([this] { Py_DECREF(function_); });
  }

  PyObject* function() const { return function_; }

  std::vector<autodiff::Adjoint> run(std::span<const Tensor> dy) override {
    const Ref args = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(dy.size())));
    for (size_t i = 0; i < dy.size(); ++i) {
      PyObject* item = dy[i] ? wrap(Tensor(dy[i])) : Py_NewRef(Py_None);
      PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), Ref::checked(item).release());
    }
    const Ref result = Ref::checked(call_object_with(function_, args.get()));
    const Ref items = Ref::checked(PySequence_Fast(result.get(), "a gradient gives a list"));
    std::vector<autodiff::Adjoint> out;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      out.push_back(adjoint_from_object(PySequence_Fast_GET_ITEM(items.get(), i)));
    }
    return out;
  }

 private:
  PyObject* function_;
};

Ref attribute(PyObject* object, const char* name) {
  return Ref::checked(PyObject_GetAttrString(object, name));
}

}  // namespace

uint64_t id_of_object(PyObject* object) {
  if (is_tensor(object)) return id_of(tensor_of(object));
  return is_variable(object) ? variable_of(object).id() : 0;
}

PyObject* object_from_adjoint(autodiff::Adjoint&& adjoint) {
  if (!adjoint) Py_RETURN_NONE;
  if (!adjoint.is_sparse()) return Ref::checked(wrap(std::move(adjoint.values))).release();
  const Ref values = Ref::checked(wrap(std::move(adjoint.values)));
  const Ref indices = Ref::checked(wrap(std::move(adjoint.indices)));
  const Ref shape = Ref::checked(shape_tuple(adjoint.shape));
  return PyTuple_Pack(3, values.get(), indices.get(), shape.get());
}

autodiff::Adjoint adjoint_from_object(PyObject* object) {
  autodiff::Adjoint out;
  if (object == Py_None) return out;
  if (is_tensor(object) || is_variable(object) || !PyObject_HasAttrString(object, "indices")) {
    out.values = to_tensor(object, {});
    return out;
  }
  out.values = to_tensor(attribute(object, "values").get(), {});
  out.indices = to_tensor(attribute(object, "indices").get(), {});
  const Ref shape = attribute(object, "dense_shape");
  if (shape.get() == Py_None) {
    raise(PyExc_ValueError, "IndexedSlices used as a gradient need a dense_shape");
  }
  out.shape = shape_from_object(shape.get());
  return out;
}

std::vector<Tensor> tensors_from_list(PyObject* list) {
  const Ref items = Ref::checked(PySequence_Fast(list, "a list of tensors is wanted"));
  std::vector<Tensor> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items.get(), i);
    out.push_back(item == Py_None ? Tensor() : to_tensor(item, {}));
  }
  return out;
}

PyObject* function_of(const autodiff::CustomBackward& backward) {
  const auto* python = dynamic_cast<const PythonBackward*>(&backward);
  return python ? python->function() : nullptr;
}

std::shared_ptr<autodiff::CustomBackward> python_backward(PyObject* function) {
  return std::make_shared<PythonBackward>(function);
}

}  // namespace tidemark::python
