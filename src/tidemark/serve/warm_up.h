// What a version is made ready for before it answers: the shapes that requests will have.
#pragma once

#include <map>

#include "tidemark/serve/servable.h"

namespace tidemark::serve {

/// Sizes of inputs by name, as --bucket declares them.
using Bucket = std::map<std::string, Shape>;

/// Plans every signature for one row, the sizes of batches, the buckets, and the shapes of the
/// requests in the folder's warmup.jsonl (a :predict body a line). Needs no weights. The bytes that
/// a run takes at most; 0: it could not be planned. Throws InvalidArgumentError for a bucket or a
/// request that is not the model's.
size_t plan_shapes(const SavedModel& model, const Batching& batching,
                   const std::vector<Bucket>& buckets, const std::string& folder);

/// Runs the model on zeros of the same shapes, and the saved requests.
void warm_up(const SavedModel& model, const Batching& batching, const std::vector<Bucket>& buckets,
             const std::string& folder);

}  // namespace tidemark::serve
