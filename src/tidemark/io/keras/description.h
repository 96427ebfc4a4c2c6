// A model in words, as Keras writes it into its files.
#pragma once

#include <optional>
#include <string>

#include "tidemark/io/inspect.h"
#include "tidemark/io/keras/hdf5.h"
#include "tidemark/io/keras/json.h"

namespace tidemark::io::keras {

/// A member of a .keras file, an attribute of an .h5 file; none: it holds weights alone. `weights`
/// is of the same file.
std::optional<Json> find_description(const Hdf5File& weights);

/// Adds layers, inputs and what only the code that made them could read.
void describe(const Json& description, Inspection& out);

}  // namespace tidemark::io::keras
