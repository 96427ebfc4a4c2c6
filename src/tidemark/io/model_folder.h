// Which kind of model a folder holds, told from its files without reading one.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "tidemark/io/file_system.h"

namespace tidemark::io {

/// `graph`: one file that says what to compute, of ONNX or TFLite.
enum class ModelFormat { own, tensorflow, graph };

struct ModelFolder {
  ModelFormat format = ModelFormat::own;
  std::string file;  ///< what the model is known by: the file that is written last
};

/// A file by itself is a graph. Our own where there are several kinds, and where there is none: who
/// opens it says what is wrong. Throws as names_in does, but takes a folder that is not there for
/// an empty one.
TIDEMARK_API ModelFolder find_model(const std::string& folder);

/// Entries of a folder that make up a model: a new model takes the place of all of them.
TIDEMARK_API std::set<std::string> files_of_models();

/// Bytes that its weights take, by the files.
TIDEMARK_API size_t weight_bytes_in(const std::string& folder);

}  // namespace tidemark::io
