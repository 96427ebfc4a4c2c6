// What is known of an op beyond its parameters and shapes: said once, in its definition.
//
//   TIDEMARK_OP(sum)
//       …
//       .reduction(ReductionKind::sum)                                    // passes, vectorisation
//       .rows(rows::reduction)                                            // running it in parts
//       .tensorflow("Sum", "input_tensor axis", "keep_dims=keepdims");    // graphs of TensorFlow
//
//
// Passes, planner, readers of foreign graphs and Python ask the definition; none keeps a list of
// names.
#pragma once

#include <tidemark/dtype.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// What a reduction over the dimensions of its attribute `axis` makes of the elements.
enum class ReductionKind : uint8_t {
  none,  ///< it is no reduction
  sum,
  mean,
  maximum,
  minimum,
  product,
  logical,  ///< whether some or all are true
  other,    ///< what does not follow from the results of parts
};

/// What the numbers of a random op are like, where it is one that has parameters in no tensor.
enum class Distribution : uint8_t { none, uniform, normal, truncated_normal };

/// A number that, as an operand, leaves the other operand as it is, bit for bit.
struct NeutralOperand {
  double number = 0;
  bool on_either_side = false;  // else as the second operand alone
};

/// Whose names an op may also be known by.
enum class Vocabulary : uint8_t { tensorflow, onnx };
inline constexpr int kVocabularies = 2;

/// The one op of another vocabulary that does the same.
struct ForeignOp {
  std::string name;
  /// Parameters of ours in the order of its inputs. An attribute among them is an input there, a
  /// constant.
  std::vector<std::string> inputs;
  /// Its attributes and ours; those that follow from the inputs (dtypes, counts) are left out.
  std::vector<std::pair<std::string, std::string>> attrs;
  /// What nodes of it are called unless named.
  std::string label;
};

// How an op runs on a part of the rows: <tidemark/rows.h>.
struct RowRule;
class RowQuestion;
using RowTreatment = std::optional<RowRule> (*)(const RowQuestion&);

}  // namespace tidemark
