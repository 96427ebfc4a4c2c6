// Which calls work row by row, by what their ops say (<tidemark/rows.h>), for all who want to run
// them on a part of the rows.
//
//   if (auto rule = row_rule(call, output_shapes, 64)) {
//     // 64 units of rows: the leading dimension of what `rule` calls rows is a multiple of 64, and
//     // any of these units can be computed without the others.
//   }
#pragma once

#include <tidemark/rows.h>

namespace tidemark::compile {

/// None: the op needs all rows at once, or sizes are not known, or do not divide into `units`.
TIDEMARK_API std::optional<RowRule> row_rule(const OpCall& call, std::span<const Shape> outputs,
                                             int64_t units);

/// The call on a part: `part` holds the part's rows where the rule says so and the whole elsewhere,
/// nothing where it says sizes. Gives the inputs of the call on the part.
TIDEMARK_API std::vector<Tensor> inputs_of_part(const OpCall& call, const Shape& whole_output,
                                                const RowRule& rule, std::vector<Tensor> part,
                                                int64_t begin, int64_t end, int64_t units);

/// Names of the ops with a rule of their own; elementwise ones have theirs by definition.
TIDEMARK_API std::vector<std::string_view> ops_with_row_rules();

}  // namespace tidemark::compile
