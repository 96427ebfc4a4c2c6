// Pixels at places between pixels.
#pragma once

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

enum class Interpolation { nearest, linear, cubic };
enum class Outside { zeros, border, reflection };

struct Sampling {
  Interpolation interpolation = Interpolation::linear;
  Outside outside = Outside::zeros;
  bool align_corners = false;  // where reflection turns round: at pixels' centers, or their edges
};

/// images [batch, spatial…, channels]; one tensor [batch, points…] of places a spatial dimension,
/// in pixels. Gives [batch, points…, channels].
Tensor sampled(const Tensor& images, std::span<const Tensor> places, const Sampling& how);

/// Cubic convolution's weight of a pixel at this distance.
Tensor cubic_weight(const Tensor& distance, double a);
double cubic_weight(double distance, double a);

}  // namespace tidemark::io::onnx
