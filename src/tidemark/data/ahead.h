// Elements made by a thread of its own.
#pragma once

#include "tidemark/data/dataset.h"

namespace tidemark::data {

/// The elements of `from` in order, up to `most` of them, of `most_bytes` (0: any) together, made
/// before anybody asks. Called while the iterator of a dataset is started, whose buffer it is.
std::unique_ptr<Iterator> made_ahead(std::unique_ptr<Iterator> from, size_t most,
                                     int64_t most_bytes = 0);

}  // namespace tidemark::data
