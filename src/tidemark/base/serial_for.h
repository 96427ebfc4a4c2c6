// serial_for: a loop of one thread that may take long, in pieces between which it can be stopped.
//
//   serial_for(count, [&](int64_t begin, int64_t end) { for (int64_t i = begin; i < end; ++i) … });
#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemark/base/interrupt.h"

namespace tidemark {

template <class Body>
void serial_for(int64_t count, Body body, int64_t piece = 1 << 16) {
  for (int64_t begin = 0; begin < count; begin += piece) {
    body(begin, std::min(begin + piece, count));
    check_interrupt();
  }
}

}  // namespace tidemark
