// Elements made by a thread of its own.
#pragma once

#include "tidemark/data/dataset.h"

namespace tidemark::data {

/// The elements of `from` in order, up to `most` of them made before anybody asks. Called while the
/// iterator of a dataset is started, whose buffer it is.
std::unique_ptr<Iterator> made_ahead(std::unique_ptr<Iterator> from, size_t most);

}  // namespace tidemark::data
