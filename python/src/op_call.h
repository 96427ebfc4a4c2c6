// One op call from Python: inputs and attributes converted, the line noted, the op run.
#pragma once

#include <tidemark/call.h>

#include "tidemark/base/interrupt.h"

#include <vector>

#include "frontend.h"
#include "py_ref.h"
#include "sites.h"

namespace tidemark::python {

/// True while this thread runs in the extension and holds the GIL, so that long work may give it
/// away. Cheaper than asking the interpreter.
extern thread_local constinit bool holds_gil __attribute__((tls_model("initial-exec")));

/// Whether a moment worth a look came while this thread was in native code: see look_soon.
extern thread_local constinit bool wants_look __attribute__((tls_model("initial-exec")));

/// Any thread: what the package gave for moments worth a look is called soon, by a thread of
/// Python's as it comes back from native code, and for any other on the main thread.
void look_soon();

/// On the way back from native code, with the GIL and no error set.
inline void look_if_wanted() {
  if (wants_look) [[unlikely]] {
    wants_look = false;
    look_now();
  }
}

class GilHeld {
 public:
  GilHeld() : outer_(std::exchange(holds_gil, true)) {}
  ~GilHeld() { holds_gil = outer_; }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  bool outer_;
};

/// The elements on a device; while they are waited for others may have the interpreter's lock.
inline Tensor copied_to(const Tensor& t, Device device) {
  if (t.device() == device) return t;
  const GilHeld held;
  return t.to(device);
}

/// Around the making of a constant: its line is noted, and reports call it "constant".
class MakingConstant {
 public:
  MakingConstant() : outer_op_(memory::thread_context.op) {
    if (!outer_op_) memory::thread_context.op = "constant";
  }
  ~MakingConstant() { memory::thread_context.op = outer_op_; }
  MakingConstant(const MakingConstant&) = delete;
  MakingConstant& operator=(const MakingConstant&) = delete;

 private:
  GilHeld held_;
  SourceLine line_;
  const char* outer_op_;
};

/// Gives the interpreter's lock away, which the thread holds, and takes it back at the end. What is
/// done meanwhile may be stopped by Ctrl-C.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  LongWorkInterrupt interrupt_;
  PyThreadState *thread_, *outer_;
  bool held_;
};

/// Between steps and pieces of long work: lets other threads of Python have their turn and runs the
/// handlers of signals. Throws PythonError with what a handler raised.
void breathe(void*);

/// Of threads of Python, while they do long work.
extern const Interrupt python_interrupt;

/// What the library is given of the interpreter: how a thread gives the GIL away and takes it back.
void* give_gil_away();
void take_gil_back(void* thread);

/// The tensors of a call; the first few need no heap.
class Inputs {
 public:
  void push(Tensor t) {
    if (count_ < kInline) {
      inline_[count_++] = std::move(t);
      return;
    }
    if (count_ == kInline) {
      for (Tensor& kept : inline_) heap_.push_back(std::move(kept));
    }
    heap_.push_back(std::move(t));
    ++count_;
  }
  size_t size() const { return count_; }
  Tensor& operator[](size_t i) { return count_ > kInline ? heap_[i] : inline_[i]; }
  std::span<const Tensor> span() const {
    return {count_ > kInline ? heap_.data() : inline_, count_};
  }

 private:
  static constexpr size_t kInline = 4;
  Tensor inline_[kInline];
  std::vector<Tensor> heap_;
  size_t count_ = 0;
};

/// Fills `out` from one Python value for each input parameter of the op (a sequence for a list of
/// tensors). Values that are no tensors adapt to the tensors of the same type variable.
void convert_inputs(const OpDef& op, PyObject* const* values, Inputs& out);

/// The value of an attribute; None where that is allowed. Throws PythonError with a TypeError.
Attr attr_from_object(const OpDef& op, const Param& param, PyObject* value);
/// The defaults of all attributes, in order.
std::vector<Attr> default_attrs(const OpDef& op);
/// The Python value of an attribute. New reference.
PyObject* object_from_attr(const Attr& attr);

/// Runs the op: a Tensor for one output, a list for several. New reference; throws.
PyObject* run_op(const OpDef& op, std::span<const Tensor> inputs, std::span<const Attr> attrs,
                 uint64_t donated, const Place& place);

/// Which operand of the binary operator running at `place` dies with it: a bit for the left one, a
/// bit for the right one, or 0. Only an object that the same frame made just before, that stands
/// on its stack and nowhere else, is given up.
uint64_t dying_operands(const Place& place, PyObject* left, PyObject* right);

extern PyMethodDef op_call_methods[];

}  // namespace tidemark::python
