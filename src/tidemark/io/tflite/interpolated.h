// A function of 16-bit numbers at 513 places, and straight lines between them, as TFLite has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tidemark::io::tflite {

class Interpolated {
 public:
  /// What numbers stand for: (number - zero) * scale.
  struct Side {
    double scale;
    int32_t zero;
  };

  /// `Real`: the type that all is computed in.
  template <class F, class Real = float>
  Interpolated(const Side& in, const Side& out, const F& f, Real = {}) {
    const auto real = [](const Side& side, int number) {
      return static_cast<Real>(side.scale) * static_cast<Real>(number - side.zero);
    };
    const Real from = real(in, -32768), to = real(in, 32767);
    const Real step = (to - from) / kSteps;
    const Real per_unit = Real(65536) / (real(out, 32767) - real(out, -32768));
    for (int i = 0; i < kSteps; ++i) {
      const Real x = from + static_cast<Real>(i) * step;
      const Real here = std::round(f(x) * per_unit);
      const Real next = f(from + static_cast<Real>(i + 1) * step) * per_unit;
      const Real middle = std::round(f(x + step / 2) * per_unit);
      // Half of what the line misses at the middle is taken away at its beginning.
      const Real missed = std::round((next + here) / 2) - middle;
      values_.push_back(cut(here - std::round(missed / 2)));
    }
    values_.push_back(cut(std::round(f(to) * per_unit)));
  }

  int32_t at(int32_t number) const {
    const auto place = static_cast<size_t>(256 + (number >> 7));
    const int32_t rise = values_[place + 1] - values_[place];
    return values_[place] + ((rise * (number & 127) + 64) >> 7);
  }

 private:
  static constexpr int kSteps = 512;
  static int32_t cut(double x) {
    return std::isnan(x) ? 0 : static_cast<int32_t>(std::clamp(x, -32768.0, 32767.0));
  }

  std::vector<int32_t> values_;
};

}  // namespace tidemark::io::tflite
