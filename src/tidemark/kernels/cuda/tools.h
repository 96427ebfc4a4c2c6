// What kernels of one GPU are made with.
#pragma once

#include "tidemark/kernels/cuda/code.h"
#include "tidemark/kernels/cuda/convolutions.h"
#include "tidemark/kernels/cuda/products.h"
#include "tidemark/kernels/cuda/recordings.h"
#include "tidemark/kernels/cuda/transforms.h"

namespace tidemark::cuda {

/// Where they come from: libtidemark_cuda.so's, or a test's.
struct Makers {
  const SourceCompiler& (*compiler)();
  const ProductLibrary* (*products)();
  const ConvolutionLibrary* (*convolutions)();
  const TransformLibrary* (*transforms)();
};

struct Tools {
  Tools(const Context& context, const Makers& makers)
      : code(context, makers.compiler),
        products(context, makers.products),
        convolutions(context, makers.convolutions),
        transforms(context, makers.transforms),
        recordings(context) {}

  CodeCache code;
  Products products;
  Convolutions convolutions;
  Transforms transforms;
  Recordings recordings;
};

}  // namespace tidemark::cuda
