// Everything a program needs.
//
//   #include <tidemark/tidemark.h>
//   namespace td = tidemark;
//   int main() {
//     auto x = td::Tensor::of({1.f, 2.f, 3.f});
//     std::cout << td::tanh(x * x + 1.f) << "\n" << td::memory::report();
//   }
#pragma once

#include <tidemark/audio.h>
#include <tidemark/boxes.h>
#include <tidemark/bytes.h>
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/custom_op.h>
#include <tidemark/debugging.h>
#include <tidemark/dtype.h>
#include <tidemark/einsum.h>
#include <tidemark/error.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/image.h>
#include <tidemark/io.h>
#include <tidemark/linalg.h>
#include <tidemark/math.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/quantization.h>
#include <tidemark/ragged.h>
#include <tidemark/random.h>
#include <tidemark/saved_model.h>
#include <tidemark/shape.h>
#include <tidemark/signal.h>
#include <tidemark/sparse.h>
#include <tidemark/strings.h>
#include <tidemark/tensor.h>
#include <tidemark/variable.h>

#include <iostream>  // what is printed, is printed there
