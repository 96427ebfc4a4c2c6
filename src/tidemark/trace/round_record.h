// What a value was in each round of a loop, as one tensor that only the way back looks into.
//
//   Tensor record = record_of(std::move(values), DType::float32, {8, 16}, Device());
//   Tensor last = value_of_round(record, rounds - 1);
#pragma once

#include <tidemark/tensor.h>

#include <vector>

namespace tidemark::trace {

/// Of shape (rounds, element…). Every value stays in the buffer that it was made in, and goes with
/// the record: nothing is copied, and nobody but these functions may look at the elements.
Tensor record_of(std::vector<Tensor>&& values, DType dtype, const Shape& element, Device device);

Tensor value_of_round(const Tensor& record, int64_t round);
/// The same for the last time: where nobody else has the record it gives the value up.
Tensor take_round(const Tensor& record, int64_t round);

}  // namespace tidemark::trace
