#include "python_call.h"
#include "calls.h"

#include "convert.h"
#include "errors.h"
#include "interpreter_lock.h"
#include "op_call.h"
#include "sites.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

class PythonCall final : public graph::Special {
 public:
  PythonCall(PyObject* function, std::vector<DType> dtypes, bool has_effect, std::string stands_for)
      : function_(Py_NewRef(function)),
        dtypes_(std::move(dtypes)),
        has_effect_(has_effect),
        stands_for_(std::move(stands_for)) {}
  ~PythonCall() override {
    let_go([this] { Py_DECREF(function_); });
  }

  std::string_view name() const override { return "py_function"; }
  std::optional<std::string_view> python_function() const override { return stands_for_; }
  std::string describe() const override {
    return stands_for_.empty() ? std::string(name()) : message("py_function ", stands_for_);
  }
  graph::Effects effects() const override { return {.is_barrier = true, .must_run = has_effect_}; }

  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    const bool is_foreign = PyGILState_GetThisThreadState() == nullptr;
    const Locked locked;
    const GilHeld held;
    try {
      run_locked(inputs, outputs);
    } catch (const PythonError&) {
      if (is_foreign) throw_held_error();
      throw;
    }
  }

 private:
  void run_locked(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
    const Ref args = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(inputs.size())));
    for (size_t i = 0; i < inputs.size(); ++i) {
      PyObject* item = Ref::checked(wrap(std::move(inputs[i]))).release();
      PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), item);
    }
    const OwnLines own_lines;
    const Ref result = Ref::checked(call_object_with(function_, args.get()));
    if (outputs.empty()) return;
    const bool is_list = PyList_Check(result.get()) || PyTuple_Check(result.get());
    const Ref items = is_list && outputs.size() != 1 ? Ref::checked(PySequence_Tuple(result.get()))
                      : is_list && PySequence_Size(result.get()) == 1
                          ? Ref::checked(PySequence_Tuple(result.get()))
                          : Ref::checked(PyTuple_Pack(1, result.get()));
    if (PyTuple_GET_SIZE(items.get()) != static_cast<Py_ssize_t>(outputs.size())) {
      fail("[py_function] the function returned ", PyTuple_GET_SIZE(items.get()),
           " values; Tout names ", outputs.size());
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] =
          to_tensor(PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), {dtypes_[i], true});
    }
  }

  bool equals(const Special& other) const override {
    const auto& call = static_cast<const PythonCall&>(other);
    return call.function_ == function_ && call.dtypes_ == dtypes_ &&
           call.has_effect_ == has_effect_;
  }

  PyObject* function_;
  std::vector<DType> dtypes_;
  bool has_effect_;
  std::string stands_for_;
};

}  // namespace

std::shared_ptr<const graph::Special> python_call(PyObject* function,
                                                  const std::vector<graph::OutputInfo>& infos,
                                                  bool has_effect, std::string stands_for) {
  std::vector<DType> dtypes;
  for (const graph::OutputInfo& info : infos) dtypes.push_back(info.dtype);
  return std::make_shared<PythonCall>(function, std::move(dtypes), has_effect,
                                      std::move(stands_for));
}

}  // namespace tidemark::python
