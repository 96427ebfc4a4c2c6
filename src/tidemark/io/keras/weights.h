// The weights of a file by layer, and layers of ours that take them.
#pragma once

#include <tidemark/module.h>

#include <functional>

#include "tidemark/io/keras/hdf5.h"

namespace tidemark::io::keras {

/// The file's part with the weights: of a .weights.h5 file all, of a .keras file a member.
Hdf5File open_weights(const std::string& path);

/// Whether layers lie by their names, each saying what its weights are called.
bool is_of_keras_2(const Hdf5File& file);

/// Gives every weight of `module` its value from the file. `layer_at(owner)` says where the weights
/// of the layer of that name ("block.dense") stand in the file, as "layers/block/layers/dense"; in
/// a file of Keras 2's, the layer's name there. Nothing changes where one is missing or has another
/// shape.
void assign_weights(const Hdf5File& file, const nn::Module& module,
                    const std::function<std::string(const std::string& owner)>& layer_at);

}  // namespace tidemark::io::keras
