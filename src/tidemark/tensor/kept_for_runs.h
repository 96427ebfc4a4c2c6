// What graphs and programs keep from one run to the next.
#pragma once

#include "tidemark/memory/buffer.h"
#include "tidemark/tensor/storage.h"

namespace tidemark {

/// The tensor itself; its elements show up as a constant in reports of memory from now on.
inline const Tensor& kept_for_runs(const Tensor& t) {
  memory::Buffer* buffer = t.impl()->buffer;
  if (buffer && buffer->holder == memory::Holder::value) {
    memory::set_holder(buffer, memory::Holder::constant);
  }
  return t;
}

}  // namespace tidemark
