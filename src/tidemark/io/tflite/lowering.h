// A .tflite file in the words in which ONNX models are traced (decision 0047): nodes of the domain
// "tflite", with what stands for reals made reals where an operator computes with them.
#pragma once

#include "tidemark/io/tflite/contents.h"

namespace tidemark::io::tflite {

inline constexpr std::string_view kDomain = "tflite";
/// Stands behind the names of operators that compute with integers as TFLite's kernels do.
inline constexpr std::string_view kOnIntegers = " on integers";
/// Of those that round reals first, since their weights are integers.
inline constexpr std::string_view kWithRoundedInputs = " with rounded inputs";

/// The model of the file's first graph, or of the signature's. Views in it are of the file's bytes
/// or owned by the model. Throws DataLossError where graphs call each other in a circle.
///
/// What outlives a call in TFLite begins at zero in each call, or with `keeps_states` is given by
/// further inputs, and further outputs tell what became of it.
onnx::Model read_model(std::string_view bytes, const std::string& path,
                       std::string_view signature = {}, bool keeps_states = false);

}  // namespace tidemark::io::tflite
