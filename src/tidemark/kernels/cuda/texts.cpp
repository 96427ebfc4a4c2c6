#include "tidemark/kernels/cuda/texts.h"

#include <tidemark/error.h>

#include <string_view>

namespace tidemark::cuda {

/// Written at build time, one for each file of device/.
namespace texts {
extern const char* const elements;
extern const char* const arrays;
extern const char* const attention;
extern const char* const complex;
extern const char* const ctc;
extern const char* const decompositions;
extern const char* const flash;
extern const char* const fourier;
extern const char* const images;
extern const char* const indexing;
extern const char* const linalg;
extern const char* const loops;
extern const char* const norms;
extern const char* const picking;
extern const char* const random;
extern const char* const scans;
extern const char* const searching;
extern const char* const softmax;
extern const char* const sorting;
extern const char* const special_functions;
extern const char* const tensor_cores;
}  // namespace texts

namespace {

constexpr Text kTexts[] = {
    {"special_functions.h", &texts::special_functions},
    {"elements.h", &texts::elements},
    {"loops.h", &texts::loops},
    {"complex.h", &texts::complex},
    {"arrays.h", &texts::arrays},
    {"indexing.h", &texts::indexing},
    {"sorting.h", &texts::sorting},
    {"picking.h", &texts::picking},
    {"norms.h", &texts::norms},
    {"random.h", &texts::random},
    {"searching.h", &texts::searching},
    {"scans.h", &texts::scans},
    {"softmax.h", &texts::softmax},
    {"attention.h", &texts::attention},
    {"tensor_cores.h", &texts::tensor_cores},
    {"flash.h", &texts::flash},
    {"linalg.h", &texts::linalg},
    {"decompositions.h", &texts::decompositions},
    {"ctc.h", &texts::ctc},
    {"fourier.h", &texts::fourier},
    {"images.h", &texts::images},
};

const char* text_named(std::string_view name) {
  for (const Text& one : kTexts) {
    if (name == one.name) return *one.text;
  }
  fail<InternalError>("there is no device/", name);
}

}  // namespace

std::span<const Text> all_texts() { return kTexts; }

std::string with_texts(const std::string& source) {
  constexpr std::string_view kInclude = "#include \"";
  std::string whole = std::string(texts::special_functions) + texts::elements;
  std::string_view rest = source;
  while (rest.starts_with(kInclude)) {
    rest.remove_prefix(kInclude.size());
    whole += text_named(rest.substr(0, rest.find('"')));
    rest.remove_prefix(rest.find('\n') + 1);
  }
  return whole.append(rest);
}

}  // namespace tidemark::cuda
