// Which ops work row by row: said once an op, for all who want to run it on a part of the rows.
//
//   if (auto rule = row_rule(call, output_shapes, 64)) {
//     // 64 units of rows: the leading dimension of what `rule` calls rows is a multiple of 64, and
//     // any of these units can be computed without the others.
//   }
#pragma once

#include <tidemark/op.h>

#include <optional>

namespace tidemark::compile {

enum class RowRole : uint8_t {
  whole,  ///< every part needs all of it
  rows,   ///< a part needs its own rows
  sizes,  ///< the shape of the only output, as integers: a part has fewer rows
};

/// How an output of the whole comes out of those of the parts.
enum class RowResult : uint8_t {
  rows,     ///< one behind the other
  sum,      ///< added up: equal to the whole but for rounding
  mean,     ///< added up, each weighted by its rows
  maximum,  ///< the greater of them, element by element
  minimum,
};

struct RowRule {
  std::vector<RowRole> inputs;
  std::vector<RowResult> outputs;
};

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
