// How a program passes over a row: which instruction runs in which pass, and what is kept between
// passes and between rows. Both back ends follow it.
//
// softmax is three passes: the largest element; exp of the differences, kept, and their sum; the
// quotients.
#pragma once

#include "tidemark/kernels/fusion/ir.h"

namespace tidemark::fusion {

struct PassStep {
  enum class Kind : uint8_t {
    compute,  // the instruction `value`
    restore,  // `value`, kept by an earlier pass in `slot`
    keep,     // `value` goes to `slot` for later passes
    store,    // `value` goes to output `slot`
    reduce,   // into the accumulator of the instruction `value`
    collect,  // into the lanes of the column reduction `value`, number `slot` of them
  };
  Kind kind = Kind::compute;
  Value value = 0;
  uint16_t slot = 0;

  /// Whether it needs the arguments of the instruction, not its value.
  bool reads_args() const {
    return kind == Kind::compute || kind == Kind::reduce || kind == Kind::collect;
  }
};

/// First once, then for every element of the row. The last pass may have no elements.
struct Pass {
  std::vector<PassStep> once;
  std::vector<PassStep> elements;
};

struct Schedule {
  std::vector<Pass> passes;
  /// Computation dtypes of the rows kept between passes.
  std::vector<DType> kept;
  /// The column reductions. Each has a lane an element of a run, of its computation dtype.
  std::vector<Value> columns;

  /// One pass over the elements, whose results are wanted a row only: pieces of a long row may be
  /// reduced apart.
  bool is_one_reduction(const FusedProgram& program) const;
};

Schedule schedule(const FusedProgram& program);

}  // namespace tidemark::fusion
