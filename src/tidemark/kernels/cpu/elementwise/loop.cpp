#include "tidemark/kernels/cpu/elementwise/loop.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/ops/number_attrs.h"

namespace tidemark::cpu {

namespace {

/// Bytes of one operand's block: three inputs and the output stay in the first-level cache.
constexpr int64_t kBlockBytes = 4096;
/// Results at least this large do not fit the caches anyway: writing them past the caches saves
/// reading each line before it is overwritten.
constexpr int64_t kStreamBytes = 8 << 20;
/// Work of a piece; also the size from which on more than one thread works.
constexpr int64_t kGrainBytes = 128 << 10;
constexpr int64_t kHeavyGrain = 8 << 10;  // elements
/// Pieces a thread of work that streams: long ones, since each new piece starts the memory's
/// prefetching again, yet enough to make up for a thread that was held up.
constexpr int64_t kStreamPieces = 4;
/// Broadcast rows up to this many elements are laid out in blocks before the loop runs.
constexpr int64_t kShortRow = 128;

struct Block {
  alignas(64) char bytes[kBlockBytes];
};

constexpr bool is_half(DType d) { return d == DType::float16 || d == DType::bfloat16; }

void fill_elements(void* out, const void* value, size_t size, int64_t n) {
  blocks().fill(out, value, static_cast<int64_t>(size), n);
}

void to_float(DType from, void* out, const void* in, int64_t n) {
  auto convert = from == DType::float16 ? blocks().half_to_float : blocks().bfloat16_to_float;
  convert(static_cast<float*>(out), static_cast<const uint16_t*>(in), n);
}

void from_float(DType to, void* out, const void* in, int64_t n) {
  auto convert = to == DType::float16 ? blocks().float_to_half : blocks().float_to_bfloat16;
  convert(static_cast<uint16_t*>(out), static_cast<const float*>(in), n);
}

/// A run of consecutive outputs. An input steps along (step 1) or stays (step 0).
struct Run {
  char* out;
  const char* in[kMaxLoopInputs];
  bool steps[kMaxLoopInputs];
  int64_t n;
};

/// Runs a loop over runs, block by block where something stands between the tensors and the loop.
class Runner {
 public:
  Runner(const LoopCall& call, bool stream)
      : call_(call), loop_(*call.loop), stream_(stream), narrow_out_(call.out_dtype != loop_.out) {
    out_size_ = static_cast<int64_t>(size_of(call.out_dtype));
    int64_t widest = std::max<int64_t>(out_size_, static_cast<int64_t>(size_of(loop_.out)));
    for (int i = 0; i < loop_.arity; ++i) {
      in_size_[i] = static_cast<int64_t>(size_of(call.in_dtype[i]));
      wide_size_[i] = static_cast<int64_t>(size_of(call.loop_in[i]));
      widest = std::max({widest, in_size_[i], wide_size_[i]});
      narrow_in_ |= call.in_dtype[i] != call.loop_in[i];
    }
    block_ = kBlockBytes / widest;
  }

  void end_piece() const {
    if (stream_) blocks().end_stream();
  }
  int64_t block() const { return block_; }
  int64_t in_size(int i) const { return in_size_[i]; }
  int64_t out_size() const { return out_size_; }
  bool streams() const { return stream_; }

  LoopStatus run(const Run& run) const {
    bool direct = (!stream_ || loop_.stream) && !narrow_in_ && !narrow_out_;
    for (int i = 0; i < loop_.arity; ++i) direct &= run.steps[i];
    if (!direct) return run_blocks(run, 0);
    if (!loop_.whole_vectors) {
      return stream_ ? stream_loop(run.out, run.in, run.n)
                     : call_loop(run.out, run.in, run.n, loop_.run);
    }
    const int64_t whole = run.n & ~(kVectorRun - 1);
    if (whole > 0) {
      const LoopFn loop = stream_ && is_line(run.out) ? loop_.stream : loop_.run;
      const LoopStatus s = call_loop(run.out, run.in, whole, loop);
      if (s != LoopStatus::ok) return s;
    }
    return run_blocks(run, whole);
  }

 private:
  LoopStatus call_loop(void* out, const char* const* in, int64_t n, LoopFn run) const {
    const void* pointers[kMaxLoopInputs] = {in[0], in[1], in[2]};
    return run(out, pointers, n, call_.params);
  }

  static int64_t past_line(const char* out) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) & 63);
  }
  static bool is_line(const char* out) { return past_line(out) == 0; }

  /// The streaming loop starts at a line: elements before the first one go the usual way.
  LoopStatus stream_loop(char* out, const char* const* in, int64_t n) const {
    const int64_t misaligned = past_line(out);
    if (misaligned == 0) return call_loop(out, in, n, loop_.stream);
    const int64_t head = std::min(n, (64 - misaligned) / out_size_);
    const LoopStatus s = call_loop(out, in, head, loop_.run);
    if (s != LoopStatus::ok || head == n) return s;
    const char* rest[kMaxLoopInputs] = {};
    for (int i = 0; i < loop_.arity; ++i) rest[i] = in[i] + head * wide_size_[i];
    return call_loop(out + head * out_size_, rest, n - head, loop_.stream);
  }

  LoopStatus run_blocks(const Run& run, int64_t first) const {
    if (first >= run.n) return LoopStatus::ok;
    Block in_blocks[kMaxLoopInputs];
    Block out_block;
    const int64_t longest = std::min(block_, padded(run.n - first));
    for (int i = 0; i < loop_.arity; ++i) {
      if (!run.steps[i]) prepare_scalar(in_blocks[i], run.in[i], i, longest);
    }
    for (int64_t at = first; at < run.n; at += block_) {
      const int64_t n = std::min(block_, run.n - at);
      const char* in[kMaxLoopInputs] = {};
      for (int i = 0; i < loop_.arity; ++i) {
        in[i] = run.steps[i] ? load(in_blocks[i], run.in[i] + at * in_size_[i], i, n)
                             : in_blocks[i].bytes;
      }
      const LoopStatus s = compute(run.out + at * out_size_, in, out_block, n);
      if (s != LoopStatus::ok) return s;
    }
    return LoopStatus::ok;
  }

  int64_t padded(int64_t n) const {
    return loop_.whole_vectors ? (n + kVectorRun - 1) & ~(kVectorRun - 1) : n;
  }

  void prepare_scalar(Block& block, const char* value, int i, int64_t n) const {
    float wide;
    if (wide_size_[i] != in_size_[i]) {
      to_float(call_.in_dtype[i], &wide, value, 1);
      value = reinterpret_cast<const char*>(&wide);
    }
    fill_elements(block.bytes, value, static_cast<size_t>(wide_size_[i]), n);
  }

  /// Where the loop reads the next n elements of input i: the tensor itself, or the block when they
  /// need conversion or padding.
  const char* load(Block& block, const char* from, int i, int64_t n) const {
    const bool pad = padded(n) != n;
    const bool convert = wide_size_[i] != in_size_[i];
    if (!pad && !convert) return from;
    if (convert) {
      to_float(call_.in_dtype[i], block.bytes, from, n);
    } else {
      std::memcpy(block.bytes, from, static_cast<size_t>(n * in_size_[i]));
    }
    if (pad) {
      char* end = block.bytes + n * wide_size_[i];
      fill_elements(end, end - wide_size_[i], static_cast<size_t>(wide_size_[i]), padded(n) - n);
    }
    return block.bytes;
  }

  LoopStatus compute(char* out, const char* const* in, Block& block, int64_t n) const {
    if (stream_ && loop_.stream && !narrow_out_ && !loop_.whole_vectors) {
      return stream_loop(out, in, n);
    }
    const bool aside = narrow_out_ || stream_ || padded(n) != n;
    const LoopStatus s = call_loop(aside ? block.bytes : out, in, padded(n), loop_.run);
    if (s != LoopStatus::ok || !aside) return s;
    const int64_t bytes = n * out_size_;
    if (narrow_out_) {
      Block narrow;
      from_float(call_.out_dtype, stream_ ? narrow.bytes : out, block.bytes, n);
      if (stream_) blocks().stream(out, narrow.bytes, bytes);
      return s;
    }
    if (stream_) {
      blocks().stream(out, block.bytes, bytes);
    } else {
      std::memcpy(out, block.bytes, static_cast<size_t>(bytes));
    }
    return s;
  }

  const LoopCall& call_;
  const ElementwiseLoop& loop_;
  const bool stream_;
  const bool narrow_out_;
  bool narrow_in_ = false;
  int64_t out_size_ = 0, in_size_[kMaxLoopInputs] = {}, wide_size_[kMaxLoopInputs] = {};
  int64_t block_ = 0;
};

/// Dimensions of the output after joining those that all inputs walk alike. Every input is dense,
/// so in the last dimension its stride is 0 or 1.
struct Dims {
  int rank = 0;
  int64_t size[Shape::kMaxRank];
  int64_t stride[kMaxLoopInputs][Shape::kMaxRank];  // in elements; 0: broadcast
};

void join_dims(const LoopCall& call, int arity, Dims& dims) {
  const Shape& out = *call.out_shape;
  int64_t dense[kMaxLoopInputs] = {1, 1, 1};
  // From the last dimension to the first; reversed at the end.
  for (int d = out.rank() - 1; d >= 0; --d) {
    if (out[d] == 1) continue;
    int64_t stride[kMaxLoopInputs] = {};
    bool joins = dims.rank > 0;
    for (int i = 0; i < arity; ++i) {
      const Shape& shape = *call.in_shape[i];
      const int own = d - (out.rank() - shape.rank());
      const int64_t size = own < 0 ? 1 : shape[own];
      stride[i] = size == 1 ? 0 : dense[i];
      dense[i] *= size;
      if (joins) {
        const int64_t last = dims.stride[i][dims.rank - 1] * dims.size[dims.rank - 1];
        joins &= stride[i] == last && (stride[i] != 0 || dims.stride[i][dims.rank - 1] == 0);
      }
    }
    if (joins) {
      dims.size[dims.rank - 1] *= out[d];
      continue;
    }
    dims.size[dims.rank] = out[d];
    for (int i = 0; i < arity; ++i) dims.stride[i][dims.rank] = stride[i];
    ++dims.rank;
  }
  std::reverse(dims.size, dims.size + dims.rank);
  for (int i = 0; i < arity; ++i) std::reverse(dims.stride[i], dims.stride[i] + dims.rank);
}

/// Walks the rows (all dimensions but the last) in order, keeping each input's offset.
class Rows {
 public:
  Rows(const Dims& dims, int arity, int64_t row) : dims_(dims), arity_(arity) {
    for (int d = dims.rank - 2; d >= 0; --d) {
      index_[d] = row % dims.size[d];
      row /= dims.size[d];
      for (int i = 0; i < arity; ++i) offset_[i] += index_[d] * dims.stride[i][d];
    }
  }
  int64_t offset(int input) const { return offset_[input]; }
  void next() {
    for (int d = dims_.rank - 2; d >= 0; --d) {
      for (int i = 0; i < arity_; ++i) offset_[i] += dims_.stride[i][d];
      if (++index_[d] < dims_.size[d]) return;
      for (int i = 0; i < arity_; ++i) offset_[i] -= dims_.size[d] * dims_.stride[i][d];
      index_[d] = 0;
    }
  }

 private:
  const Dims& dims_;
  int arity_;
  int64_t index_[Shape::kMaxRank];
  int64_t offset_[kMaxLoopInputs] = {};
};

int64_t grain_of(const LoopCall& call) {
  if (call.loop->heavy) return kHeavyGrain;
  return kGrainBytes / static_cast<int64_t>(size_of(call.out_dtype));
}

/// Remembers the first status that is not ok among pieces that run at the same time.
class FirstStatus {
 public:
  void note(LoopStatus s) {
    if (s != LoopStatus::ok) status_.store(s, std::memory_order_relaxed);
  }
  LoopStatus get() const { return status_.load(std::memory_order_relaxed); }

 private:
  std::atomic<LoopStatus> status_{LoopStatus::ok};
};

/// Every input has as many elements as the output, or one.
LoopStatus run_flat(const LoopCall& call, const Runner& runner) {
  const int arity = call.loop->arity;
  FirstStatus status;
  int64_t grain = grain_of(call);
  if (runner.streams()) {
    const int64_t longer = call.out_count / (kStreamPieces * num_threads());
    grain = std::max(grain, (longer + kVectorRun - 1) / kVectorRun * kVectorRun);
  }
  parallel_for(call.out_count, grain, [&](int64_t begin, int64_t end) {
    Run run{static_cast<char*>(call.out) + begin * runner.out_size(), {}, {}, end - begin};
    for (int i = 0; i < arity; ++i) {
      run.steps[i] = call.in_count[i] == call.out_count;
      run.in[i] = static_cast<const char*>(call.in[i]);
      if (run.steps[i]) run.in[i] += begin * runner.in_size(i);
    }
    status.note(runner.run(run));
    runner.end_piece();
  });
  return status.get();
}

/// Short runs are written in place: calling anything would take longer.
template <class T>
void repeat_typed(char* out, const char* value, int64_t n) {
  T v;
  std::memcpy(&v, value, sizeof(T));
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * sizeof(T), &v, sizeof(T));
}

/// Appends n elements: one value n times, or n that lie in a row.
char* append_row(char* out, const char* from, bool step, int64_t size, int64_t n) {
  if (step) {
    std::memcpy(out, from, static_cast<size_t>(n * size));
  } else if (size == 4 && n < 16) {
    repeat_typed<uint32_t>(out, from, n);
  } else if (size == 8 && n < 16) {
    repeat_typed<uint64_t>(out, from, n);
  } else {
    blocks().fill(out, from, size, n);
  }
  return out + n * size;
}

/// Rows too short to run one by one: broadcast inputs are laid out in blocks of whole rows.
class ShortRows {
 public:
  ShortRows(const LoopCall& call, const Runner& runner, const Dims& dims)
      : call_(call), runner_(runner), dims_(dims), inner_(dims.size[dims.rank - 1]) {
    rows_a_block_ = std::max<int64_t>(1, runner.block() / inner_);
  }

  LoopStatus run() const {
    const int64_t blocks_a_piece = std::max<int64_t>(1, grain_of(call_) / (rows_a_block_ * inner_));
    FirstStatus status;
    parallel_for(call_.out_count / inner_, blocks_a_piece * rows_a_block_,
                 [&](int64_t begin, int64_t end) { status.note(run_piece(begin, end)); });
    return status.get();
  }

 private:
  LoopStatus run_piece(int64_t begin, int64_t end) const {
    const int arity = call_.loop->arity;
    Block blocks[kMaxLoopInputs];
    Rows rows(dims_, arity, begin);
    for (int64_t row = begin; row < end; row += rows_a_block_) {
      const int64_t count = std::min(rows_a_block_, end - row);
      Run run{static_cast<char*>(call_.out) + row * inner_ * runner_.out_size(),
              {},
              {true, true, true},
              count * inner_};
      lay_out(blocks, rows, count, row == begin);
      for (int i = 0; i < arity; ++i) {
        run.in[i] = is_dense(i) ? input(i, row * inner_) : blocks[i].bytes;
      }
      if (const LoopStatus s = runner_.run(run); s != LoopStatus::ok) return s;
    }
    runner_.end_piece();
    return LoopStatus::ok;
  }

  /// Fills the blocks of the broadcast inputs with the next rows.
  void lay_out(Block* blocks, Rows& rows, int64_t count, bool first) const {
    char* out[kMaxLoopInputs];
    bool wanted[kMaxLoopInputs] = {};
    bool any = false;
    for (int i = 0; i < call_.loop->arity; ++i) {
      out[i] = blocks[i].bytes;
      // A row that repeats fills a block once for all: later blocks are no longer.
      wanted[i] = !is_dense(i) && (first || !repeats(i));
      any |= wanted[i];
    }
    if (!any) return;
    for (int64_t r = 0; r < count; ++r) {
      for (int i = 0; i < call_.loop->arity; ++i) {
        if (!wanted[i]) continue;
        const bool step = dims_.stride[i][dims_.rank - 1] != 0;
        out[i] = append_row(out[i], input(i, rows.offset(i)), step, runner_.in_size(i), inner_);
      }
      rows.next();
    }
  }

  const char* input(int i, int64_t offset) const {
    return static_cast<const char*>(call_.in[i]) + offset * runner_.in_size(i);
  }
  bool is_dense(int i) const { return call_.in_count[i] == call_.out_count; }
  bool repeats(int i) const { return dims_.rank == 2 && dims_.stride[i][0] == 0; }

  const LoopCall& call_;
  const Runner& runner_;
  const Dims& dims_;
  const int64_t inner_;
  int64_t rows_a_block_;
};

LoopStatus run_broadcast(const LoopCall& call, const Runner& runner) {
  const int arity = call.loop->arity;
  Dims dims;
  join_dims(call, arity, dims);
  const int64_t inner = dims.size[dims.rank - 1];
  if (inner <= kShortRow) return ShortRows(call, runner, dims).run();
  const int64_t grain = grain_of(call);
  // Long rows are cut into chunks, short ones are gathered: either way a piece is about a grain.
  const int64_t chunk = std::min(inner, grain);
  const int64_t chunks = (inner + chunk - 1) / chunk;
  const int64_t items = call.out_count / inner * chunks;
  FirstStatus status;
  parallel_for(items, std::max<int64_t>(1, grain / chunk), [&](int64_t begin, int64_t end) {
    Rows rows(dims, arity, begin / chunks);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / chunks, at = item % chunks * chunk;
      Run run{static_cast<char*>(call.out) + (row * inner + at) * runner.out_size(),
              {},
              {},
              std::min(chunk, inner - at)};
      for (int i = 0; i < arity; ++i) {
        run.steps[i] = dims.stride[i][dims.rank - 1] != 0;
        const int64_t offset = rows.offset(i) + (run.steps[i] ? at : 0);
        run.in[i] = static_cast<const char*>(call.in[i]) + offset * runner.in_size(i);
      }
      status.note(runner.run(run));
      if (at + chunk >= inner) rows.next();
    }
    runner.end_piece();
  });
  return status.get();
}

bool should_stream(const LoopCall& call) {
  const int64_t bytes = call.out_count * static_cast<int64_t>(size_of(call.out_dtype));
  if (bytes < kStreamBytes) return false;
  for (int i = 0; i < call.loop->arity; ++i) {
    if (call.in[i] == call.out) return false;  // the lines are in the cache already
  }
  return true;
}

}  // namespace

LoopStatus run_loop(const LoopCall& call) {
  if (call.out_count == 0) return LoopStatus::ok;
  const Runner runner(call, should_stream(call));
  for (int i = 0; i < call.loop->arity; ++i) {
    if (call.in_count[i] != call.out_count && call.in_count[i] != 1) {
      return run_broadcast(call, runner);
    }
  }
  return run_flat(call, runner);
}

LoopParams params_of(const OpCall& call) {
  LoopParams params;
  read_number_attrs(call.op, call.attrs, params.values);
  return params;
}

namespace {

/// Small tensors of one size that the loop reads and writes directly: no set-up at all.
constexpr int64_t kSmall = 2048;
/// Even smaller ones may be padded, or meet scalars: operands are laid out beside the tensors.
constexpr int64_t kTiny = 4 * kVectorRun;

/// Every input has n elements or one, of the dtype the loop reads.
LoopStatus run_tiny(const ElementwiseLoop& loop, void* out, const void* const* in,
                    const int64_t* counts, int64_t n) {
  alignas(64) char blocks[kMaxLoopInputs + 1][kTiny * 16];
  const size_t size = size_of(loop.in);
  const int64_t padded = loop.whole_vectors ? (n + kVectorRun - 1) & ~(kVectorRun - 1) : n;
  const void* pointers[kMaxLoopInputs] = {};
  for (int i = 0; i < loop.arity; ++i) {
    pointers[i] = in[i];
    if (counts[i] == padded) continue;
    const int64_t given = counts[i];
    std::memcpy(blocks[i], in[i], static_cast<size_t>(given) * size);
    char* end = blocks[i] + static_cast<size_t>(given) * size;
    fill_elements(end, end - size, size, padded - given);
    pointers[i] = blocks[i];
  }
  if (padded == n) return loop.run(out, pointers, n, LoopParams());
  const LoopStatus status = loop.run(blocks[kMaxLoopInputs], pointers, padded, LoopParams());
  std::memcpy(out, blocks[kMaxLoopInputs], static_cast<size_t>(n) * size_of(loop.out));
  return status;
}

}  // namespace

void run_loop(KernelContext& k, const ElementwiseLoop& loop) {
  const Tensor& out = k.output(0);
  const int64_t n = out.num_elements();
  const void* in[kMaxLoopInputs] = {};
  int64_t counts[kMaxLoopInputs] = {};
  bool plain = n <= kSmall && k.call().attrs.empty() && k.input(0).dtype() == loop.in;
  bool same = !loop.whole_vectors;  // and with a scalar now and then: tiny
  for (int i = 0; i < loop.arity; ++i) {
    in[i] = k.input(i).raw_data();
    counts[i] = k.input(i).num_elements();
    same &= counts[i] == n;
    plain &= counts[i] == n || counts[i] == 1;
  }
  LoopStatus status;
  if (plain && same) {
    status = loop.run(out.mutable_raw_data(), in, n, LoopParams());
  } else if (plain && n <= kTiny) {
    status = run_tiny(loop, out.mutable_raw_data(), in, counts, n);
  } else {
    LoopCall call;
    call.loop = &loop;
    call.out = out.mutable_raw_data();
    call.out_dtype = out.dtype();
    call.out_shape = &out.shape();
    call.out_count = n;
    for (int i = 0; i < loop.arity; ++i) {
      call.in[i] = in[i];
      call.in_dtype[i] = k.input(i).dtype();
      call.loop_in[i] = is_half(k.input(i).dtype()) ? DType::float32 : k.input(i).dtype();
      call.in_shape[i] = &k.input(i).shape();
      call.in_count[i] = k.input(i).num_elements();
    }
    call.params = params_of(k.call());
    status = run_loop(call);
  }
  if (status != LoopStatus::ok) fail_loop(k, status);
}

void fail_loop(const KernelContext& k, LoopStatus status) {
  if (status == LoopStatus::division_by_zero) {
    k.fail("Integer division by zero: 'y' holds a 0; use tf.math.divide_no_nan or floats");
  }
  k.fail("Integers to negative integer powers are not allowed; cast 'x' to a float dtype");
}

}  // namespace tidemark::cpu
