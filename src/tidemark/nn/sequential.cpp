#include <tidemark/call.h>
#include <tidemark/sequential.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/kind_names.h"

namespace tidemark::nn {

void Sequential::add_numbered(const Module& member) {
  add(numbered_name(*kinds_, member.kind()), member);
}

Tensor Sequential::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  Tensor y = x;
  for (const Step& step : *steps_) y = step(y);
  return y;
}

Tensor Residual::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return x + Sequential::operator()(x);
}

}  // namespace tidemark::nn
