#include "tidemark/kernels/cuda/library.h"

#include <tidemark/error.h>

#include "tidemark/base/plugin.h"

namespace tidemark::cuda {

namespace {

struct Opened {
  const Libraries* libraries = nullptr;
  const Driver* driver = nullptr;
  std::string why;

  Opened() {
    libraries = static_cast<const Libraries*>(
        open_plugin("libtidemark_cuda.so", "tidemark_cuda_libraries", why));
    if (!libraries) {
      why = "this build has no CUDA (" + why + "); build with -DTIDEMARK_CUDA=ON";
      return;
    }
    const char* problem = "";
    driver = libraries->driver(&problem);
    if (!driver) why = problem;
  }
};

const Opened& opened() {
  static const auto* once = new Opened;  // kernels may run while the process ends
  return *once;
}

}  // namespace

const Driver* installed_driver(std::string& why) {
  why = opened().why;
  return opened().driver;
}

const SourceCompiler& installed_compiler() {
  const char* why = "there is no libtidemark_cuda.so";
  const Libraries* libraries = opened().libraries;
  const SourceCompiler* compiler = libraries ? libraries->compiler(&why) : nullptr;
  if (!compiler) {
    fail<FailedPreconditionError>("kernels for GPUs cannot be compiled: ", why,
                                  ". Install the CUDA toolkit's libnvrtc");
  }
  return *compiler;
}

const ProductLibrary* installed_products() {
  const char* why = "";
  const Libraries* libraries = opened().libraries;
  return libraries ? libraries->products(&why) : nullptr;
}

const ConvolutionLibrary* installed_convolutions() {
  const char* why = "";
  const Libraries* libraries = opened().libraries;
  return libraries ? libraries->convolutions(&why) : nullptr;
}

const TransformLibrary* installed_transforms() {
  const char* why = "";
  const Libraries* libraries = opened().libraries;
  return libraries ? libraries->transforms(&why) : nullptr;
}

}  // namespace tidemark::cuda
