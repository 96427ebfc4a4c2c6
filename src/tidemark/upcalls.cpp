// Which function of a higher layer answers each question of a lower one.

#include "tidemark/base/upcalls.h"

#include <tidemark/error.h>

#include "tidemark/autodiff/tape.h"
#include "tidemark/base/backend.h"
#include "tidemark/base/device_kinds.h"
#include "tidemark/base/settings.h"
#include "tidemark/exec/arena_pool.h"
#include "tidemark/exec/eager.h"
#include "tidemark/graph/node.h"
#include "tidemark/kernels/cpu/backend.h"
#include "tidemark/kernels/cuda/backend.h"
#include "tidemark/kernels/emulated/backend.h"
#include "tidemark/trace/graph_gradient.h"
#include "tidemark/trace/specialise.h"

namespace tidemark {

namespace {

std::unique_ptr<Accelerator> open_accelerator(std::string_view kind, int index) {
  if (kind == "gpu") return cuda::open(index);
  return kind == "emulated" ? emulated::open(index) : nullptr;
}

}  // namespace

int count_devices(std::string_view kind, std::string& why) {
  why.clear();
  if (kind == "cpu") return 1;
  if (kind == "gpu") return cuda::count_gpus(why);
  if (kind == "emulated") return static_cast<int>(settings::integer(settings::kEmulatedDevices));
  why = message("there are cpu, gpu and emulated, not \"", kind, "\"");
  return 0;
}

GpuDescription describe_gpu(int index) { return cuda::describe_gpu(index); }

extern constinit const Upcalls upcalls = {
    .cpu_backend = cpu::backend,
    .open_accelerator = open_accelerator,
    .give_back_idle = exec::drop_idle_arenas,
    .destroy_symbolic = graph::destroy_symbolic,
    .known_ints = graph::known_ints,
    .run_now = exec::run_eager,
    .specialise = trace::specialise,
    .defer_gradient = trace::defer_gradient,
};

}  // namespace tidemark
