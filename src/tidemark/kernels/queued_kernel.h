// QueuedKernel: one run of a kernel, or of a fused step, to be done when its stream comes to it.
#pragma once

#include <tidemark/kernel.h>

#include <exception>
#include <memory>
#include <vector>

#include "tidemark/graph/node.h"
#include "tidemark/memory/site.h"

namespace tidemark {

/// The line for which this thread works, kept from being forgotten; null: nobody knows.
TIDEMARK_API std::shared_ptr<const memory::Site> place_of_work();
/// The same of a line that is given.
TIDEMARK_API std::shared_ptr<const memory::Site> kept_place(const memory::Site* site);

class Stream;  // of a backend

/// What a stream calls a kernel with: inputs that the definition reads on the host lie there, all
/// else is the device's.
class QueuedContext final : public KernelContext {
 public:
  QueuedContext(const OpCall& call, std::span<const Tensor> outputs, void* workspace,
                Stream& stream)
      : KernelContext(call, outputs, workspace), stream_(stream) {}
  Stream& stream() const { return stream_; }

 private:
  Stream& stream_;
};

/// On which a kernel of a device enqueues its work. Kernels that only streams call may ask; those
/// of the CPU compute where they are called.
inline Stream& stream_of(KernelContext& context) {
  return static_cast<QueuedContext&>(context).stream();
}

struct QueuedKernel {
  /// A tensor of the call. Elements on the device are referred to by address alone: the stream's
  /// order, not a reference, keeps them there. What lies on the host is kept.
  struct Operand {
    DType dtype = DType::invalid;
    Shape shape;
    void* data = nullptr;
    Tensor host;  // empty: on the device

    static Operand of(const Tensor& t) {
      return {t.dtype(), t.shape(), t.mutable_raw_data(), t.device().is_cpu() ? t : Tensor()};
    }
  };

  Device device;
  const OpDef* op = nullptr;  // null: `step` computes
  Kernel kernel;
  std::vector<Attr> attrs;
  std::shared_ptr<const graph::Special> step;  // made by the device's compiler
  std::vector<Operand> inputs, outputs;
  void* workspace = nullptr;  // on the device
  /// What it reads on the host may be another thing when its recording is run again; it does
  /// nothing but launch functions then.
  bool changes = false;
  std::shared_ptr<const memory::Site> place;  // which line asked; null: this thread's
  /// Where the shapes of outputs that depend on values go; null: they are known. Valid until the
  /// caller has waited.
  std::vector<Shape>* shapes = nullptr;
};

/// The name of its op or step, in static storage.
const char* name_of_work(const QueuedKernel& kernel);

/// An error of work on a stream, until somebody waits.
struct FailedWork {
  std::exception_ptr error;  // null: none
  std::shared_ptr<const memory::Site> place;
  /// As an error of the same type, whose message ends with the line that enqueued the work. On the
  /// host's thread: a worker must not ask the front end for lines.
  [[noreturn]] void rethrow() const;
};

}  // namespace tidemark
