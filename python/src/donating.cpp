#include "donating.h"

#include <tidemark/call.h>

#include <algorithm>

#include "tidemark/graph/donated.h"
#include "tidemark/memory/context.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark::python {

namespace {

Tensor& value_in(PyObject* object) { return reinterpret_cast<PyTensor*>(object)->value; }

}  // namespace

bool Donating::is_possible() { return top_handler() == nullptr; }

void Donating::check_given_once(PyObject* object, std::span<PyObject* const> args) const {
  if (!is_tensor(object) || std::count(args.begin(), args.end(), object) < 2) return;
  fail("[", function_, "] a tensor of shape ", tensor_of(object).shape(),
       " is donated and given twice in one call: nobody may read what another argument gives up. "
       "Give tf.identity(...) of it instead");
}

void Donating::take(PyObject* object, Tensor& input, Tensor& stand_in) {
  if (!is_tensor(object) || is_symbolic(tensor_of(object))) return;
  const memory::Site* site = memory::thread_context.site;
  if (!stand_in || !graph::was_donated_at(stand_in, site) || stand_in.dtype() != input.dtype() ||
      !(stand_in.shape() == input.shape())) {
    stand_in = graph::donated_tensor(input, function_, memory::thread_context.site);
  }
  const Taken taken{object, &input};
  if (count_ < kInline) {
    few_[count_++] = taken;
  } else {
    more_.push_back(taken);
  }
  value_in(object) = stand_in;
}

Donating::~Donating() {
  const auto give_back = [](const Taken& taken) {
    if (*taken.input) value_in(taken.object) = std::move(*taken.input);
  };
  std::for_each(few_, few_ + count_, give_back);
  std::for_each(more_.begin(), more_.end(), give_back);
}

}  // namespace tidemark::python
