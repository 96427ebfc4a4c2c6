#include "tidemark/kernels/cpu/fusion/shaped.h"

#include <algorithm>
#include <cmath>

#include "tidemark/base/plain_type.h"
#include "tidemark/base/random_state.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::fusion {

namespace {

/// Elements of a piece of work; from that many on more than one thread works.
constexpr int64_t kGrain = 16 << 10;
/// Rows of at least this many elements are run as they lie; shorter ones are laid out in blocks.
constexpr int64_t kLongRow = 128;
constexpr int64_t kBlock = 1024;  // a multiple of the groups of random numbers
/// Short rows that all broadcast inputs repeat in are run several at a time, about so many
/// elements.
constexpr int64_t kPeriodBlock = 2048;
constexpr int64_t kStackBytes = 64 << 10;
/// Results at least this large do not stay in the caches.
constexpr int64_t kStreamBytes = 8 << 20;
constexpr int64_t kStreamPieces = 4;  // a thread
/// Programs that need memory a row run in so many pieces at most: it is needed once a piece.
constexpr int64_t kMaxPieces = 32;
/// One long row is reduced in parts of this length, whatever the number of threads.
constexpr int64_t kPart = 8 << 10;
constexpr int64_t kRandomGroup = 64;
constexpr size_t kAlign = 64;

constexpr size_t kLaneBytes = 64 << 10;  // of column reductions, on the stack
/// Pieces of column reductions have at least so many rows and runs, or their results are as much
/// work.
constexpr int64_t kColumnRows = 64, kColumnRuns = 32;

constexpr size_t aligned(size_t bytes) { return (bytes + kAlign - 1) & ~(kAlign - 1); }

cpu::RandomDraw draw_of(const Instruction& i, std::span<const void* const> in, DType seed_dtype,
                        int64_t n) {
  cpu::RandomDraw draw{};
  draw.first = i.params[0];
  draw.second = i.params[1];
  if (i.drawn == Drawn::uniform) {
    draw.second = i.params[1] - i.params[0];
    draw.highest = i.params[1] > i.params[0]
                       ? std::nextafterf(static_cast<float>(i.params[1]), -INFINITY)
                       : INFINITY;
  }
  if (i.is_stream) {
    const uint64_t* stream = static_cast<const uint64_t*>(in[i.input]);
    draw.stream = {stream[0], stream[1], stream[2]};
  } else if (i.input != kNoValue) {
    int64_t seed[2] = {};
    with_plain_type(seed_dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        const T* given = static_cast<const T*>(in[i.input]);
        seed[0] = static_cast<int64_t>(given[0]);
        seed[1] = static_cast<int64_t>(given[1]);
      }
    });
    draw.stream = stateless_stream(static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]));
  } else {
    const int64_t groups = (n + kRandomGroup - 1) / kRandomGroup;
    draw.stream = random_state::reserve(i.has_seed ? std::optional(i.seed) : std::nullopt,
                                        static_cast<uint64_t>(groups * kBlocksPerGroup));
  }
  return draw;
}

}  // namespace

/// Pointers of one thread, and memory for what has to be laid out.
struct ShapedFusion::Scratch {
  Scratch(const ShapedFusion& shaped, char* memory, int64_t longest) {
    for (int s = 0; s < shaped.num_staged_; ++s) {
      stage[s] = memory;
      memory += shaped.stage_bytes(s, longest);
    }
    for (size_t k = 0; k < shaped.f_.schedule_.kept.size(); ++k) {
      kept[k] = memory;
      memory += shaped.kept_bytes(k, longest);
    }
  }
  char* stage[kMaxSources];
  void* kept[kMaxInstructions];
  const void* in[kMaxSources];
  void* out[kMaxOutputs];
  /// An input that is there in part: where its first element would be. kMaxSources: none is.
  size_t partial = kMaxSources;
  uintptr_t partial_base = 0;
};

ShapedFusion::ShapedFusion(const CompiledFusion& fusion, std::span<const Shape* const> shapes)
    : f_(fusion),
      p_(fusion.program_),
      g_(p_, shapes),
      columns_(p_, fusion.schedule_, g_.cols),
      by_row_(p_.runs_by_row()) {
  for (size_t k = 0; k < p_.inputs.size(); ++k) {
    item_bytes_[k] = static_cast<uint8_t>(size_of(p_.inputs[k]));
  }
  for (size_t k = p_.inputs.size(); k < static_cast<size_t>(f_.sources_.count); ++k) {
    item_bytes_[k] = static_cast<uint8_t>(size_of(f_.sources_.dtypes[k]));
    staged_[num_staged_++] = static_cast<uint8_t>(k);
  }
  choose();
  if (!is_split()) return;
  const Shape one;  // what is left reads single elements only
  const std::vector<const Shape*> ones(f_.split_->rest->program_.inputs.size(), &one);
  rest_ = std::make_unique<const ShapedFusion>(*f_.split_->rest, ones);
}

bool ShapedFusion::is_split() const {
  return f_.split_ && g_.rows == 1 && g_.cols > 2 * kPart && num_staged_ == 0;
}
int64_t ShapedFusion::parts() const { return (g_.cols + kPart - 1) / kPart; }

size_t ShapedFusion::workspace() const {
  if (is_split()) return split_bytes();
  if (!columns_.empty()) {
    const int64_t pieces = column_pieces();
    return columns_.partial_bytes() * static_cast<size_t>(pieces) +
           task_bytes() * static_cast<size_t>(pieces * column_chunks());
  }
  return on_stack_ ? 0 : scratch_bytes() * static_cast<size_t>(num_pieces());
}

void ShapedFusion::run(std::span<const void* const> in, std::span<void* const> out,
                       void* workspace) const {
  if (columns_.empty() && (g_.rows == 0 || (g_.total() == 0 && !by_row_))) return;
  Call call;
  call.in = in;
  call.out = out;
  if (is_split()) return run_split(call, static_cast<char*>(workspace));
  draw(call);
  call.stream = should_stream(call);
  call.code = f_.code_for(scalars_, call.stream);
  if (!columns_.empty()) return run_columns(call, static_cast<char*>(workspace));
  if (on_stack_) return run_elements(call);
  run_rows(call, static_cast<char*>(workspace));
}

bool ShapedFusion::runs_in_pieces() const {
  if (is_split() || g_.total() == 0) return false;
  if (columns_.lane_bytes(run_length_) > kLaneBytes) return false;
  return on_stack_ || scratch_bytes() <= static_cast<size_t>(kStackBytes);
}

void ShapedFusion::start(Call& call) const {
  draw(call);
  call.code = f_.code_for(scalars_, false);
}

void ShapedFusion::run_piece(const Call& call, int64_t begin, int64_t n, int64_t count,
                             int64_t step, const PartOfInput* part) const {
  const bool needs_memory = lays_out_ || !on_stack_;
  alignas(kAlign) char memory[kStackBytes];
  Scratch s(*this, memory, needs_memory ? run_length_ : 0);
  if (period_ > 0) {
    fill_period(call, count > 1 ? run_length_ : std::min(run_length_, begin % period_ + n), s);
  }
  if (part) {
    const uintptr_t back = static_cast<uintptr_t>(begin) * item_bytes_[part->input];
    s.partial = part->input;
    s.partial_base = reinterpret_cast<uintptr_t>(part->data) - back;
  }
  for (; count > 0; --count, begin += step) {
    run_range(call, begin, begin + n, s);
    if (part) {
      s.partial_base += static_cast<uintptr_t>(part->step - step) * item_bytes_[part->input];
    }
  }
}

/// Elements [begin, end), or the rows they are.
void ShapedFusion::run_range(const Call& call, int64_t begin, int64_t end, Scratch& s) const {
  if (by_row_) {
    for (int64_t row = begin / g_.cols; row < end / g_.cols; ++row) run_row(call, row, s);
    return;
  }
  if (!is_by_item() && !lays_out_) return run_span(call, begin, end - begin, begin, 0, s);
  while (begin < end) {
    const int64_t item = begin / run_length_, skipped = begin - item * run_length_;
    const int64_t longest = lays_out_ && period_ == 0 ? run_length_ : run_length_ - skipped;
    const int64_t n = std::min(end - begin, longest);
    run_span(call, begin, n, lays_out_ ? begin : skipped, item, s);
    begin += n;
  }
}

/// The first n elements of what repeats.
void ShapedFusion::fill_period(const Call& call, int64_t n, Scratch& s) const {
  for (int i = 0; i < num_staged_; ++i) {
    const uint8_t k = staged_[i];
    g_.expand(k, static_cast<const char*>(call.in[k]), 0, n, item_bytes_[k], s.stage[i]);
  }
}

size_t ShapedFusion::stage_bytes(int s, int64_t n) const {
  return aligned(static_cast<size_t>(n + kRandomGroup) * item_bytes_[staged_[s]]);
}
size_t ShapedFusion::kept_bytes(size_t k, int64_t n) const {
  return aligned(static_cast<size_t>(n + cpu::kVectorRun) * size_of(f_.schedule_.kept[k]));
}
size_t ShapedFusion::scratch_bytes() const {
  size_t bytes = 0;
  for (int s = 0; s < num_staged_; ++s) bytes += stage_bytes(s, g_.cols);
  for (size_t k = 0; k < f_.schedule_.kept.size(); ++k) bytes += kept_bytes(k, g_.cols);
  return bytes;
}

void ShapedFusion::choose() {
  if (by_row_) {
    dims_ = g_.inner;
    const bool plain = classify() == 0 && f_.schedule_.kept.empty() && num_staged_ == 0;
    on_stack_ = plain;
    run_length_ = g_.cols;
    lane_width_ = std::max<int64_t>(1, g_.cols);
    return;
  }
  if (!columns_.empty()) return choose_columns();
  on_stack_ = true;
  dims_ = g_.rank;
  if (num_staged_ == 0 && g_.rank > 0) {
    if (others(g_.rank) == 0) {
      classify();
      run_length_ = g_.cols;
      return;
    }
    if (choose_period()) return;
    if (g_.size[g_.rank - 1] >= kLongRow) {
      dims_ = 1;
      classify();
      run_length_ = g_.size[g_.rank - 1];
      return;
    }
  }
  classify();
  lays_out_ = true;
  const auto most = kStackBytes / (8 * std::max(1, num_staged_)) - kRandomGroup;
  run_length_ = std::min(kBlock, most / kRandomGroup * kRandomGroup);
}

/// Rows shorter than a block that all inputs which are neither dense nor single repeat in, as a
/// bias does: blocks of whole rows, over which these are laid out once.
bool ShapedFusion::choose_period() {
  const int64_t row = g_.rank == 2 && (columns_.empty() || g_.inner == 1) ? g_.size[1] : 0;
  if (g_.total() == 0 || row == 0 || row > kPeriodBlock / 2) return false;
  int laid_out = 0;
  for (size_t k = 0; k < p_.inputs.size(); ++k) {
    const int input = static_cast<int>(k);
    if (g_.walk(input, 2) != Geometry::Walk::other) continue;
    if (g_.walk(input, 1) != Geometry::Walk::dense || g_.offset(input, 1, 1) != 0) return false;
    ++laid_out;
  }
  const int64_t most = std::min(kPeriodBlock, kStackBytes / (8 * laid_out) - kRandomGroup);
  if (row > most) return false;
  classify();
  lays_out_ = true;
  period_ = row;
  run_length_ = most / row * row;
  return true;
}

int ShapedFusion::others(int dims) const {
  int count = 0;
  for (size_t k = 0; k < p_.inputs.size(); ++k) {
    count += g_.walk(static_cast<int>(k), dims) == Geometry::Walk::other;
  }
  return count;
}

/// Sorts the inputs; the number that have to be laid out.
int ShapedFusion::classify() {
  int laid_out = 0;
  for (size_t k = 0; k < p_.inputs.size(); ++k) {
    const auto walk = g_.walk(static_cast<int>(k), dims_);
    if (walk == Geometry::Walk::scalar) scalars_ |= ScalarMask{1} << k;
    if (walk != Geometry::Walk::other) continue;
    staged_[num_staged_++] = static_cast<uint8_t>(k);
    ++laid_out;
  }
  return laid_out;
}

int64_t ShapedFusion::num_pieces() const {
  const int64_t rows_a_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g_.cols));
  const int64_t pieces = (g_.rows + rows_a_grain - 1) / rows_a_grain;
  return std::clamp<int64_t>(pieces, 1, kMaxPieces);
}

void ShapedFusion::draw(Call& call) const {
  if (f_.sources_.count == static_cast<int>(p_.inputs.size())) return;
  int next = 0;
  for (const Instruction& i : p_.code) {
    if (i.code != Code::random) continue;
    const DType seed = i.input == kNoValue ? DType::invalid : p_.inputs[i.input];
    call.draws[next] = draw_of(i, call.in, seed, g_.total());
    call.fills[next++] =
        cpu::random_loops().fill[static_cast<int>(i.drawn)][static_cast<int>(i.dtype)];
  }
}

bool ShapedFusion::should_stream(const Call& call) const {
  if (by_row_ || lays_out_ || dims_ != g_.rank) return false;
  // Runs start at rows.
  if (!columns_.empty() && g_.cols * 4 % static_cast<int64_t>(kAlign) != 0) return false;
  bool large = false;
  for (size_t o = 0; o < call.out.size(); ++o) {
    if (p_.code[p_.outputs[o].value].level == Level::column) continue;
    const auto item = static_cast<int64_t>(size_of(p_.output_dtype(o)));
    if (reinterpret_cast<uintptr_t>(call.out[o]) % kAlign != 0 || item != 4) return false;
    large |= g_.total() * item >= kStreamBytes;
    // Lines that were read are in the cache already.
    if (std::find(call.in.begin(), call.in.end(), call.out[o]) != call.in.end()) return false;
  }
  return large;
}

// --- the ways to cut the work
// ---------------------------------------------------------------------

/// No memory of their own is needed, or little of it.
void ShapedFusion::run_elements(const Call& call) const {
  const int64_t items = (g_.total() + run_length_ - 1) / std::max<int64_t>(1, run_length_);
  if (by_row_) return run_plain_rows(call);
  if (items == 1 && !lays_out_) return run_one_long(call);
  const int64_t elements =
      period_ > 0 ? std::max(kGrain, g_.total() / (kStreamPieces * num_threads())) : kGrain;
  const int64_t grain = std::max<int64_t>(1, elements / run_length_);
  parallel_for(items, grain, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * run_length_;
    run_piece(call, first, std::min(end * run_length_, g_.total()) - first);
  });
}

/// Every input is dense or one element: cut anywhere.
void ShapedFusion::run_one_long(const Call& call) const {
  int64_t grain = kGrain;
  if (call.stream) {
    const int64_t longer = g_.total() / (kStreamPieces * num_threads());
    grain = std::max(grain, (longer + kRandomGroup - 1) / kRandomGroup * kRandomGroup);
  }
  parallel_for(g_.total(), grain, [&](int64_t begin, int64_t end) {
    Scratch s(*this, nullptr, 0);
    run_span(call, begin, end - begin, begin, 0, s);
    if (call.stream) cpu::blocks().end_stream();
  });
}

void ShapedFusion::run_plain_rows(const Call& call) const {
  const int64_t rows_a_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g_.cols));
  parallel_for(g_.rows, rows_a_grain, [&](int64_t begin, int64_t end) {
    Scratch s(*this, nullptr, 0);
    for (int64_t row = begin; row < end; ++row) run_row(call, row, s);
  });
}

void ShapedFusion::run_rows(const Call& call, char* workspace) const {
  const int64_t pieces = num_pieces();
  const int64_t rows = (g_.rows + pieces - 1) / pieces;
  const size_t scratch = scratch_bytes();
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      Scratch s(*this, workspace + static_cast<size_t>(piece) * scratch, g_.cols);
      const int64_t last = std::min(g_.rows, (piece + 1) * rows);
      for (int64_t row = piece * rows; row < last; ++row) run_row(call, row, s);
    }
  });
}

void ShapedFusion::run_row(const Call& call, int64_t row, Scratch& s) const {
  run_span(call, row * g_.cols, g_.cols, 0, row, s);
}

/// Elements [start, start + n) of the space, which are element `at` on of run `item`.
void ShapedFusion::run_span(const Call& call, int64_t start, int64_t n, int64_t at, int64_t item,
                            Scratch& s) const {
  const bool by_item = is_by_item();
  for (size_t k = 0; k < p_.inputs.size(); ++k) {
    int64_t offset = (scalars_ >> k) & 1u ? 0 : at;
    if (by_item) offset += g_.offset(static_cast<int>(k), item, g_.rank - dims_);
    const auto base = k == s.partial ? s.partial_base : reinterpret_cast<uintptr_t>(call.in[k]);
    s.in[k] = reinterpret_cast<const void*>(base + static_cast<uintptr_t>(offset) * item_bytes_[k]);
  }
  for (int i = 0; i < num_staged_; ++i) {
    if (period_ > 0) {
      s.in[staged_[i]] = s.stage[i] + start % period_ * int64_t{item_bytes_[staged_[i]]};
    } else {
      lay_out(call, staged_[i], s.stage[i], start, n, s);
    }
  }
  for (size_t o = 0; o < call.out.size(); ++o) {
    const Instruction& value = p_.code[p_.outputs[o].value];
    const int64_t offset = value.level == Level::row      ? item
                           : value.level == Level::column ? 0
                                                          : start;
    s.out[o] =
        static_cast<char*>(call.out[o]) + offset * static_cast<int64_t>(size_of(value.dtype));
  }
  const RunArgs args{s.in, s.out, s.kept, n};
  if (call.code) {
    call.code->run(args);
  } else {
    f_.interpreter_.run(args, scalars_);
  }
}

void ShapedFusion::lay_out(const Call& call, uint8_t source, char* memory, int64_t start, int64_t n,
                           Scratch& s) const {
  if (source < p_.inputs.size()) {
    g_.expand(source, static_cast<const char*>(call.in[source]), start, n, item_bytes_[source],
              memory);
    s.in[source] = memory;
    return;
  }
  const size_t drawn = source - p_.inputs.size();
  const int64_t first = start / kRandomGroup * kRandomGroup;
  const auto back = static_cast<uintptr_t>(first) * item_bytes_[source];
  call.fills[drawn](call.draws[drawn], first, start + n,
                    reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) - back));
  s.in[source] = memory + (start - first) * int64_t{item_bytes_[source]};
}

// --- column reductions
// ----------------------------------------------------------------------------

/// Runs are whole rows, several where they are short, or parts of one.
void ShapedFusion::choose_columns() {
  on_stack_ = true;
  dims_ = g_.rank;
  const auto room = static_cast<int64_t>(kLaneBytes / columns_.lane_bytes(0) - 1) * cpu::kVectorRun;
  const int64_t most = std::min(Columns::kMostLanes, room / kRandomGroup * kRandomGroup);
  if (g_.total() == 0) {
    classify();
    lane_width_ = std::max<int64_t>(1, g_.cols);
    return;
  }
  if (num_staged_ == 0) {
    if (others(g_.rank) == 0) {
      classify();
      return cut_lanes(most);
    }
    if (choose_period()) return cut_lanes(std::min(most, run_length_));
    if (g_.cols >= kLongRow && others(g_.inner) == 0) {
      dims_ = g_.inner;
      classify();
      cut_lanes(most);
      lane_rows_ = 1;
      run_length_ = lane_width_;
      return;
    }
  }
  classify();
  lays_out_ = true;
  const int64_t staged = kStackBytes / (8 * std::max(1, num_staged_)) - kRandomGroup;
  cut_lanes(std::min({most, kBlock, staged / kRandomGroup * kRandomGroup}));
}

void ShapedFusion::cut_lanes(int64_t most) {
  if (g_.cols <= most) {
    lane_width_ = g_.cols;
    lane_rows_ = most / g_.cols;
  } else {
    const int64_t chunks = (g_.cols + most - 1) / most;
    const int64_t width = (g_.cols + chunks - 1) / chunks;
    lane_width_ = (width + kRandomGroup - 1) / kRandomGroup * kRandomGroup;
    lane_rows_ = 1;
  }
  run_length_ = lane_rows_ * lane_width_;
}

int64_t ShapedFusion::column_chunks() const { return (g_.cols + lane_width_ - 1) / lane_width_; }

int64_t ShapedFusion::rows_a_piece() const {
  const int64_t wanted = std::clamp<int64_t>(g_.total() / kGrain, 1, kMaxPieces);
  const int64_t fewest = std::max(kColumnRows, kColumnRuns * lane_rows_);
  const int64_t pieces = std::clamp<int64_t>(wanted / std::max<int64_t>(1, column_chunks()), 1,
                                             std::max<int64_t>(1, g_.rows / fewest));
  const int64_t rows = std::max<int64_t>(1, (g_.rows + pieces - 1) / pieces);
  return (rows + lane_rows_ - 1) / lane_rows_ * lane_rows_;
}
int64_t ShapedFusion::column_pieces() const {
  return std::max<int64_t>(1, (g_.rows + rows_a_piece() - 1) / rows_a_piece());
}

/// Of memory a task needs for itself, beside the stack.
size_t ShapedFusion::task_bytes() const {
  const size_t lanes = columns_.lane_bytes(run_length_);
  return (on_stack_ ? 0 : scratch_bytes()) + (lanes > kLaneBytes ? lanes : 0);
}

void ShapedFusion::run_columns(const Call& call, char* workspace) const {
  const int64_t pieces = column_pieces(), chunks = column_chunks(), rows = rows_a_piece();
  char* memory = workspace + static_cast<size_t>(pieces) * columns_.partial_bytes();
  parallel_for(pieces * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first_row = task / chunks * rows, first = task % chunks * lane_width_;
      const int64_t width = std::min(lane_width_, g_.cols - first);
      char* partial = workspace + static_cast<size_t>(task / chunks) * columns_.partial_bytes();
      columns_.start_partial(partial, first, width);
      char* own = memory + static_cast<size_t>(task) * task_bytes();
      alignas(kAlign) char stack[kStackBytes];
      Scratch s(*this, on_stack_ ? stack : own, on_stack_ && !lays_out_ ? 0 : run_length_);
      alignas(kAlign) char lanes[kLaneBytes];
      const bool fits = columns_.lane_bytes(run_length_) <= kLaneBytes;
      columns_.start_lanes(fits ? lanes : own + (on_stack_ ? 0 : scratch_bytes()), run_length_,
                           s.kept + f_.schedule_.kept.size());
      run_lanes(call, first_row, std::min(rows, g_.rows - first_row), first, width, partial, s);
      if (call.stream) cpu::blocks().end_stream();
    }
  });
  columns_.finish(workspace, pieces, g_.rows, call.out);
}

void ShapedFusion::run_part(const Call& call, int64_t first_row, int64_t rows, int64_t first_column,
                            int64_t columns, char* partial) const {
  alignas(kAlign) char stack[kStackBytes];
  alignas(kAlign) char lanes[kLaneBytes];
  Scratch s(*this, stack, on_stack_ && !lays_out_ ? 0 : run_length_);
  for (int64_t done = 0; done < columns; done += lane_width_) {
    columns_.start_lanes(lanes, run_length_, s.kept + f_.schedule_.kept.size());
    run_lanes(call, first_row, rows, first_column + done, std::min(lane_width_, columns - done),
              partial, s);
  }
}

/// At most lane_width_ columns.
void ShapedFusion::run_lanes(const Call& call, int64_t first_row, int64_t rows,
                             int64_t first_column, int64_t columns, char* partial,
                             Scratch& s) const {
  if (period_ > 0) fill_period(call, run_length_, s);
  const int64_t together = columns == g_.cols ? lane_rows_ : 1;
  void* const* lanes = s.kept + f_.schedule_.kept.size();
  for (int64_t row = 0; row < rows;) {
    const int64_t used = std::min(together, rows - row);
    for (int64_t k = 0; k < Columns::kRowsALane && row < rows; ++k) {
      const int64_t taken = std::min(together, rows - row), now = first_row + row;
      const int64_t start = now * g_.cols + first_column;
      const bool by_item = is_by_item();
      run_span(call, start, taken * columns, by_item ? first_column : start, by_item ? now : 0, s);
      row += taken;
    }
    columns_.fold(lanes, used, first_column, columns, partial, row == rows);
  }
}

// --- one long row
// ---------------------------------------------------------------------------------

size_t ShapedFusion::split_bytes() const {
  const size_t results = f_.split_->parts->program_.outputs.size();
  return results * (aligned(static_cast<size_t>(parts()) * 8) + kAlign);
}

void ShapedFusion::run_split(const Call& call, char* workspace) const {
  const CompiledFusion& part = *f_.split_->parts;
  const size_t results = part.program_.outputs.size();
  const size_t column = aligned(static_cast<size_t>(parts()) * 8);
  const MachineCode* code = part.code_for(scalars_, false);
  parallel_for(parts(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const void* in[kMaxSources];
      void* out[kMaxInstructions];
      for (size_t k = 0; k < call.in.size(); ++k) {
        const int64_t skip = (scalars_ >> k) & 1u ? 0 : i * kPart;
        in[k] = static_cast<const char*>(call.in[k]) + skip * int64_t{item_bytes_[k]};
      }
      for (size_t r = 0; r < results; ++r) {
        out[r] = workspace + r * column +
                 static_cast<size_t>(i) * size_of(part.program_.output_dtype(r));
      }
      const RunArgs args{in, out, nullptr, std::min(kPart, g_.cols - i * kPart)};
      if (code) {
        code->run(args);
      } else {
        part.interpreter_.run(args, scalars_);
      }
    }
  });
  join_parts(call, workspace, column);
}

void ShapedFusion::join_parts(const Call& call, char* workspace, size_t column) const {
  const void* in[kMaxSources];
  size_t next = call.in.size();
  std::copy(call.in.begin(), call.in.end(), in);
  size_t r = 0;
  char* joined = workspace + f_.split_->parts->program_.outputs.size() * column;
  for (const Instruction& i : p_.code) {
    if (i.code != Code::reduce) continue;
    join(i, workspace + r * column, joined + r * kAlign);
    in[next++] = joined + r * kAlign;
    ++r;
  }
  rest_->run({in, next}, call.out, nullptr);
}

namespace {

template <class T>
using computed =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace

void ShapedFusion::join(const Instruction& i, const char* from, char* to) const {
  with_plain_type(i.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>> && !std::is_same_v<T, bool>) {
      constexpr bool kInt = std::is_integral_v<T>;
      using Wide = std::conditional_t<kInt, uint64_t, double>;
      const T* x = reinterpret_cast<const T*>(from);
      T best = x[0];
      Wide sum{};
      for (int64_t k = 0; k < parts(); ++k) {
        const auto wide = [](T v) {
          if constexpr (kInt) return static_cast<Wide>(v);
          if constexpr (!kInt) return static_cast<Wide>(static_cast<computed<T>>(v));
        };
        sum += wide(x[k]);
        const auto a = static_cast<computed<T>>(x[k]), b = static_cast<computed<T>>(best);
        const bool wins = i.reduction == Reduction::max ? a > b : a < b;
        if (wins || a != a) best = x[k];
      }
      if (i.reduction == Reduction::mean) sum /= static_cast<Wide>(g_.cols);
      const bool is_sum = fusion::is_sum(i.reduction);
      *reinterpret_cast<T*>(to) = is_sum ? static_cast<T>(static_cast<computed<T>>(sum)) : best;
    }
  });
}

}  // namespace tidemark::fusion
