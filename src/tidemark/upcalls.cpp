// Which function of a higher layer answers each question of a lower one.

#include "tidemark/base/upcalls.h"

#include "tidemark/base/backend.h"
#include "tidemark/kernels/cpu/backend.h"
#include "tidemark/kernels/emulated/backend.h"

namespace tidemark {

namespace {

std::unique_ptr<Accelerator> open_accelerator(std::string_view kind, int index) {
  return kind == "emulated" ? emulated::open(index) : nullptr;
}

}  // namespace

extern constinit const Upcalls upcalls = {
    .cpu_backend = cpu::backend,
    .open_accelerator = open_accelerator,
};

}  // namespace tidemark
