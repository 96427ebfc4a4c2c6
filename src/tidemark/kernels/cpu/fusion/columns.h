// What column reductions of a program collect in.
//
// A run of elements adds to lanes, one an element of the run. After kRowsALane rows the lanes are
// folded into the partial results of a piece, in a wide type; the partial results of all pieces are
// joined in their order. Pieces are the same for any number of threads, so results are too.
#pragma once

#include "tidemark/kernels/cpu/fusion/run_args.h"

namespace tidemark::fusion {

class Columns {
 public:
  /// The most elements lanes are cut for.
  static constexpr int64_t kMostLanes = 2048;
  /// So many additions keep a float's rounding small.
  static constexpr int64_t kRowsALane = 64;

  /// Rows of `cols` elements.
  Columns(const FusedProgram& program, const Schedule& schedule, int64_t cols);

  bool empty() const { return of_.empty(); }
  /// Of lanes for runs of n elements, all reductions together.
  size_t lane_bytes(int64_t n) const;
  /// Of the partial results of one piece.
  size_t partial_bytes() const { return of_.size() * partial_column(); }

  /// Where the lanes lie in memory of lane_bytes(n); ready to add to.
  void start_lanes(char* memory, int64_t n, void** lanes) const;
  /// Of columns [first, first + width).
  void start_partial(char* partial, int64_t first, int64_t width) const;
  /// Lanes of `rows` rows of `width` columns each go into the columns from `first` on, and start
  /// anew unless this is the last time.
  void fold(void* const* lanes, int64_t rows, int64_t first, int64_t width, char* partial,
            bool is_last) const;
  /// The outputs, from `count` partial results that lie partial_bytes() apart, each of them of
  /// `rows` rows in all.
  void finish(char* partials, int64_t count, int64_t rows, std::span<void* const> out) const;

 private:
  struct Of {
    const Instruction* instruction;
    DType lane, wide;  // of lanes, and of partial results
    bool is_sum;
  };
  size_t partial_column() const;
  void finish_columns(const Of& of, char* partial, int64_t count, int64_t rows, int64_t first,
                      int64_t width, char* out) const;

  const int64_t cols_;
  std::vector<Of> of_;
  std::vector<uint16_t> of_output_;  // the reduction by output; kNoValue: it is none
};

}  // namespace tidemark::fusion
