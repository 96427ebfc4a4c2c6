// Which function of a higher layer answers each question of a lower one.

#include "tidemark/base/upcalls.h"

#include "tidemark/base/backend.h"
#include "tidemark/kernels/emulated/backend.h"

namespace tidemark {

namespace {

std::unique_ptr<Backend> open_backend(std::string_view kind, int index) {
  return kind == "emulated" ? emulated::open(index) : nullptr;
}

}  // namespace

extern constinit const Upcalls upcalls = {
    .open_backend = open_backend,
};

}  // namespace tidemark
