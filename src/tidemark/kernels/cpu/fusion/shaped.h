// A fused program over inputs of known shapes: what depends on shapes alone is worked out once.
//
//   const ShapedFusion shaped(*fused, shapes);
//   shaped.run(inputs, outputs, workspace);            // any number of threads, any number of
//   times
//
// Results do not depend on the number of threads.
#pragma once

#include <memory>

#include "tidemark/kernels/cpu/fusion/columns.h"
#include "tidemark/kernels/cpu/fusion/compiled.h"
#include "tidemark/kernels/cpu/fusion/geometry.h"
#include "tidemark/kernels/cpu/isa/random_loops.h"

namespace tidemark::fusion {

class TIDEMARK_API ShapedFusion {
 public:
  /// The program has to outlive it.
  ShapedFusion(const CompiledFusion& fusion, std::span<const Shape* const> shapes);
  ShapedFusion(ShapedFusion&&) = default;

  /// Bytes `run` needs beside inputs and outputs.
  size_t workspace() const;
  /// Never allocates once machine code for the pattern of broadcasting is there.
  void run(std::span<const void* const> in, std::span<void* const> out, void* workspace) const;
  const Geometry& geometry() const { return g_; }
  /// Beside the program's.
  size_t bytes() const { return sizeof(ShapedFusion) + g_.bytes() + (rest_ ? rest_->bytes() : 0); }

  /// One run in pieces, by threads of the caller's.
  struct Call {
    std::span<const void* const> in;
    std::span<void* const> out;
    const MachineCode* code = nullptr;
    bool stream = false;
    cpu::RandomDraw draws[kMaxSources - kMaxInputs];
    cpu::RandomFill fills[kMaxSources - kMaxInputs];
  };
  /// Whether pieces need no memory but the stack.
  bool runs_in_pieces() const;
  void start(Call& call) const;
  /// An input of all elements of which only those of the piece are anywhere: the first run's at
  /// `data`, those of the others `step` elements further each.
  struct PartOfInput {
    size_t input = 0;
    const void* data = nullptr;
    int64_t step = 0;
  };
  /// `count` runs of n elements of the space, the first at `begin`, the others `step` elements
  /// further each; whole rows of programs that reduce. Every element belongs to one piece.
  void run_piece(const Call& call, int64_t begin, int64_t n, int64_t count = 1, int64_t step = 0,
                 const PartOfInput* part = nullptr) const;
  const Columns& columns() const { return columns_; }
  /// Of a program with column reductions: these rows and columns, into partial results that no
  /// other part of these columns takes.
  void run_part(const Call& call, int64_t first_row, int64_t rows, int64_t first_column,
                int64_t columns, char* partial) const;

 private:
  struct Scratch;

  void choose();
  void choose_columns();
  bool choose_period();
  void cut_lanes(int64_t most);
  int others(int dims) const;
  int classify();
  bool is_by_item() const { return by_row_ || (dims_ < g_.rank && !lays_out_); }
  bool is_split() const;
  int64_t parts() const;
  int64_t num_pieces() const;
  size_t stage_bytes(int s, int64_t n) const;
  size_t kept_bytes(size_t k, int64_t n) const;
  size_t scratch_bytes() const;
  size_t split_bytes() const;
  bool should_stream(const Call& call) const;
  void draw(Call& call) const;

  void run_elements(const Call& call) const;
  void run_range(const Call& call, int64_t begin, int64_t end, Scratch& s) const;
  void fill_period(const Call& call, int64_t n, Scratch& s) const;
  void run_one_long(const Call& call) const;
  void run_plain_rows(const Call& call) const;
  void run_rows(const Call& call, char* workspace) const;
  void run_row(const Call& call, int64_t row, Scratch& s) const;
  void run_span(const Call& call, int64_t start, int64_t n, int64_t at, int64_t item,
                Scratch& s) const;
  void lay_out(const Call& call, uint8_t source, char* memory, int64_t start, int64_t n,
               Scratch& s) const;
  int64_t column_pieces() const;
  int64_t rows_a_piece() const;
  int64_t column_chunks() const;
  size_t task_bytes() const;
  void run_columns(const Call& call, char* workspace) const;
  void run_lanes(const Call& call, int64_t first_row, int64_t rows, int64_t first_column,
                 int64_t columns, char* partial, Scratch& s) const;
  void run_split(const Call& call, char* workspace) const;
  void join_parts(const Call& call, char* workspace, size_t column) const;
  void join(const Instruction& i, const char* from, char* to) const;

  const CompiledFusion& f_;
  const FusedProgram& p_;
  const Geometry g_;
  const Columns columns_;
  const bool by_row_;
  int dims_ = 0;  // dimensions of a run
  bool on_stack_ = false, lays_out_ = false;
  int64_t period_ = 0;  // not 0: inputs repeat after so many elements, and are laid out once
  int64_t run_length_ = 0;
  int64_t lane_rows_ = 1, lane_width_ = 1;  // of a run of a program with column reductions
  ScalarMask scalars_ = 0;
  int num_staged_ = 0;
  uint8_t staged_[kMaxSources];
  uint8_t item_bytes_[kMaxSources];
  /// What follows the reductions of one long row.
  std::unique_ptr<const ShapedFusion> rest_;
};

}  // namespace tidemark::fusion
