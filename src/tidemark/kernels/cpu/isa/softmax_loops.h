// Loops of softmax, log_softmax and the cross entropies, one table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

/// n elements; `stride` elements lie between them, and `width` neighbouring columns are done
/// together. Width 1 with stride 1 is a plain row.
struct SoftmaxLine {
  int64_t n, stride, width;
};

struct SoftmaxLoops {
  void (*softmax)(const SoftmaxLine& line, const void* x, void* y, bool logarithm) = nullptr;
  /// From the softmax (or its logarithm) y and the gradient dy that came in.
  void (*gradient)(const SoftmaxLine& line, const void* y, const void* dy, void* dx,
                   bool logarithm) = nullptr;
  /// log(sum(exp(x))) of n neighbouring elements.
  double (*log_sum_exp)(const void* x, int64_t n) = nullptr;
  /// sum(labels * (lse - x)).
  double (*cross_entropy)(const void* labels, const void* x, int64_t n, double lse) = nullptr;
  /// (exp(x - lse) - labels) * factor; without labels, 1 stands at `hot` and 0 elsewhere.
  void (*cross_entropy_gradient)(const void* x, const void* labels, int64_t hot, int64_t n,
                                 double lse, double factor, void* dx) = nullptr;
};

struct SoftmaxTable {
  SoftmaxLoops loops[kDTypeSlots];
};

const SoftmaxTable& softmax_loops();

}  // namespace tidemark::cpu
