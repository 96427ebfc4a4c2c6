// The class that stands for "no label" in connectionist temporal classification, on every device.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark {

/// Negative ones count from the end.
inline int64_t blank_of(const KernelContext& k, int64_t classes) {
  const int64_t given = k.attr("blank_index").as_int();
  const int64_t blank = given < 0 ? given + classes : given;
  if (blank < 0 || blank >= classes) {
    k.fail("blank_index must be in [", -classes, ", ", classes, ") for ", classes,
           " classes; given ", given);
  }
  return blank;
}

}  // namespace tidemark
