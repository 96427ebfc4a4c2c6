// Arguments that a call gives up: their tensors go into the run, and the Python objects tell where.
#pragma once

#include <span>
#include <vector>

#include "tensor_type.h"

namespace tidemark::python {

/// Takes tensors out of Python objects for the time of one call. Needs the GIL, at both ends.
class Donating {
 public:
  /// `function`: for messages.
  explicit Donating(const char* function) : function_(function) {}
  /// What the run had not taken yet when it failed comes back.
  ~Donating();
  Donating(const Donating&) = delete;
  Donating& operator=(const Donating&) = delete;

  /// Nothing is given up inside a graph or under a tape: others need the values again.
  static bool is_possible();
  /// Throws InvalidArgumentError where an object that is given up is an argument twice.
  void check_given_once(PyObject* object, std::span<PyObject* const> args) const;
  /// `input` becomes the only handle of `object`, which it was copied from. `stand_in`: what stands
  /// in its place, kept from call to call.
  void take(PyObject* object, Tensor& input, Tensor& stand_in);

 private:
  struct Taken {
    PyObject* object;  // the caller's arguments keep it
    Tensor* input;
  };
  static constexpr size_t kInline = 8;

  const char* function_;
  Taken few_[kInline];
  size_t count_ = 0;
  std::vector<Taken> more_;
};

}  // namespace tidemark::python
