// Datasets as tensors: what functions give and take that make datasets of elements.
//
//   Tensor number = as_tensor(window);          // owns the dataset, as do its views
//   DatasetRef same = dataset_of(number);
//
// The number stands for the dataset as long as a tensor that owns it lives: copies of the number
// lead to the dataset, too, but do not keep it.
#pragma once

#include "tidemark/data/dataset.h"

namespace tidemark::data {

TIDEMARK_API Tensor as_tensor(DatasetRef dataset);
/// Throws InvalidArgumentError where the number stands for no dataset that is alive.
TIDEMARK_API DatasetRef dataset_of(const Tensor& number);

/// Whether it owns a dataset.
TIDEMARK_API bool is_dataset(const Tensor& t) noexcept;

/// The elements of what `listed` made; null for any other dataset.
std::unique_ptr<std::vector<Element>> listed_elements(const Dataset& dataset);

/// These elements.
TIDEMARK_API DatasetRef listed(std::vector<Element> elements);

}  // namespace tidemark::data
