// Neural networks: modules, their layers, losses and metrics.
//
//   td::nn::Sequential model{td::nn::Conv2D(32, 3, {.activation = "relu"}), td::nn::Flatten(),
//                            td::nn::Dense(10)};
//   td::Tensor logits = model(images);
//   std::cout << model;                            // a table: weights, shapes, bytes
//   model.eval();
#pragma once

#include <tidemark/activations.h>
#include <tidemark/convolution_layers.h>
#include <tidemark/layers.h>
#include <tidemark/losses.h>
#include <tidemark/metrics.h>
#include <tidemark/module.h>
#include <tidemark/nn_functions.h>
#include <tidemark/sequence_layers.h>
#include <tidemark/sequential.h>
