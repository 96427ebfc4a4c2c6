#include "tidemark/kernels/fusion/compiled.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tidemark/base/plain_type.h"
#include "tidemark/base/random_state.h"
#include "tidemark/base/settings.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/random_loops.h"
#include "tidemark/kernels/cpu/loops_of_level.h"
#include "tidemark/kernels/fusion/geometry.h"

namespace tidemark::fusion {

namespace {

/// Elements of a piece of work; from that many on more than one thread works.
constexpr int64_t kGrain = 16 << 10;
/// Rows of at least this many elements are run as they lie; shorter ones are laid out in blocks.
constexpr int64_t kLongRow = 128;
constexpr int64_t kBlock = 1024;  // a multiple of the groups of random numbers
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

constexpr size_t aligned(size_t bytes) { return (bytes + kAlign - 1) & ~(kAlign - 1); }

constinit std::atomic<BackEnd> back_end_in_use{BackEnd::best};

CodeLevel level_in_use() {
  const CodeLevel best = best_code_level();
  switch (back_end_in_use.load(std::memory_order_relaxed)) {
    case BackEnd::interpreter:
      return CodeLevel::none;
    case BackEnd::avx2:
      return std::min(best, CodeLevel::avx2);
    default:
      return best;
  }
}

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
  if (i.input != kNoValue) {
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
                                        static_cast<uint64_t>(groups * cpu::kBlocksPerGroup));
  }
  return draw;
}

/// The part of a program before and with its reductions; reductions are the outputs, means sums.
Program reductions_of(const Program& p) {
  Program part = p;
  part.outputs.clear();
  for (size_t v = 0; v < part.code.size(); ++v) {
    Instruction& i = part.code[v];
    if (i.code != Code::reduce) continue;
    if (i.reduction == Reduction::mean) i.reduction = Reduction::sum;
    part.outputs.push_back({static_cast<Value>(v), false});
  }
  return part;
}

/// The part after them, over their results as inputs behind the program's own.
Program rest_of(const Program& p) {
  Program rest;
  rest.inputs = p.inputs;
  std::vector<Value> place(p.code.size(), kNoValue);
  for (size_t v = 0; v < p.code.size(); ++v) {
    Instruction i = p.code[v];
    if (i.code == Code::reduce) {
      i.code = Code::load;
      i.arity = 0;
      i.args = {kNoValue, kNoValue, kNoValue};
      i.input = static_cast<uint16_t>(rest.inputs.size());
      rest.inputs.push_back(i.dtype);
    } else if (i.level == Level::element && i.code != Code::constant) {
      continue;
    }
    for (int a = 0; a < i.arity; ++a) i.args[static_cast<size_t>(a)] = place[i.args[a]];
    i.level = Level::element;
    place[v] = static_cast<Value>(rest.code.size());
    rest.code.push_back(i);
  }
  for (const Output& o : p.outputs) rest.outputs.push_back({place[o.value], false});
  return rest;
}

}  // namespace

BackEnd set_back_end(BackEnd back_end) { return back_end_in_use.exchange(back_end); }

struct CompiledFusion::Split {
  std::shared_ptr<const CompiledFusion> parts, rest;
};

/// One call: how its space is cut, and the work on each piece.
class CompiledFusion::Run {
 public:
  Run(const CompiledFusion& fusion, std::span<const Shape* const> shapes)
      : f_(fusion), p_(fusion.program_), g_(p_, shapes) {
    for (size_t k = 0; k < p_.inputs.size(); ++k) item_bytes_[k] = size_of(p_.inputs[k]);
    for (size_t k = p_.inputs.size(); k < static_cast<size_t>(f_.sources_.count); ++k) {
      item_bytes_[k] = size_of(f_.sources_.dtypes[k]);
      staged_[num_staged_++] = static_cast<uint8_t>(k);
    }
    choose();
  }

  bool is_split() const {
    return f_.split_ && g_.rows == 1 && g_.cols > 2 * kPart && num_staged_ == 0;
  }
  int64_t parts() const { return (g_.cols + kPart - 1) / kPart; }
  size_t workspace() const {
    if (is_split()) return split_bytes();
    return on_stack_ ? 0 : scratch_bytes() * static_cast<size_t>(num_pieces());
  }

  void run(std::span<const Shape* const> shapes, std::span<const void* const> in,
           std::span<void* const> out, void* workspace) {
    in_ = in;
    out_ = out;
    if (g_.rows == 0 || (g_.total() == 0 && !p_.has_rows())) return;
    if (is_split()) return run_split(shapes, static_cast<char*>(workspace));
    draw();
    stream_ = should_stream();
    code_ = f_.code_for(scalars_, stream_);
    if (on_stack_) return run_elements();
    const int64_t pieces = num_pieces();
    const int64_t rows = (g_.rows + pieces - 1) / pieces;
    const size_t scratch = scratch_bytes();
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        char* own = static_cast<char*>(workspace) + static_cast<size_t>(piece) * scratch;
        Scratch s(*this, own, g_.cols);
        const int64_t last = std::min(g_.rows, (piece + 1) * rows);
        for (int64_t row = piece * rows; row < last; ++row) run_row(row, s);
      }
    });
  }

 private:
  /// Pointers of one thread, and memory for what has to be laid out.
  struct Scratch {
    Scratch(const Run& run, char* memory, int64_t longest) {
      for (int s = 0; s < run.num_staged_; ++s) {
        stage[s] = memory;
        memory += run.stage_bytes(s, longest);
      }
      for (size_t k = 0; k < run.f_.schedule_.kept.size(); ++k) {
        kept[k] = memory;
        memory += run.kept_bytes(k, longest);
      }
    }
    char* stage[kMaxSources];
    void* kept[kMaxInstructions];
    const void* in[kMaxSources];
    void* out[kMaxOutputs];
  };

  size_t stage_bytes(int s, int64_t n) const {
    return aligned(static_cast<size_t>(n + kRandomGroup) * item_bytes_[staged_[s]]);
  }
  size_t kept_bytes(size_t k, int64_t n) const {
    return aligned(static_cast<size_t>(n + cpu::kVectorRun) * size_of(f_.schedule_.kept[k]));
  }
  size_t scratch_bytes() const {
    size_t bytes = 0;
    for (int s = 0; s < num_staged_; ++s) bytes += stage_bytes(s, g_.cols);
    for (size_t k = 0; k < f_.schedule_.kept.size(); ++k) bytes += kept_bytes(k, g_.cols);
    return bytes;
  }

  void choose() {
    if (p_.has_rows()) {
      dims_ = g_.inner;
      const bool plain = classify() == 0 && f_.schedule_.kept.empty() && num_staged_ == 0;
      on_stack_ = plain;
      run_length_ = g_.cols;
      return;
    }
    on_stack_ = true;
    dims_ = g_.rank;
    if (num_staged_ == 0 && g_.rank > 0) {
      if (others(g_.rank) == 0) {
        classify();
        run_length_ = g_.cols;
        return;
      }
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

  int others(int dims) const {
    int count = 0;
    for (size_t k = 0; k < p_.inputs.size(); ++k) {
      count += g_.walk(static_cast<int>(k), dims) == Geometry::Walk::other;
    }
    return count;
  }
  /// Sorts the inputs; the number that have to be laid out.
  int classify() {
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

  int64_t num_pieces() const {
    const int64_t rows_a_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g_.cols));
    const int64_t pieces = (g_.rows + rows_a_grain - 1) / rows_a_grain;
    return std::clamp<int64_t>(pieces, 1, kMaxPieces);
  }

  void draw() {
    int next = 0;
    for (const Instruction& i : p_.code) {
      if (i.code != Code::random) continue;
      const DType seed = i.input == kNoValue ? DType::invalid : p_.inputs[i.input];
      draws_[next] = draw_of(i, in_, seed, g_.total());
      fills_[next++] =
          cpu::random_loops().fill[static_cast<int>(i.drawn)][static_cast<int>(i.dtype)];
    }
  }

  bool should_stream() const {
    if (p_.has_rows() || lays_out_ || dims_ != g_.rank) return false;
    bool large = false;
    for (size_t o = 0; o < out_.size(); ++o) {
      const auto item = static_cast<int64_t>(size_of(p_.output_dtype(o)));
      if (reinterpret_cast<uintptr_t>(out_[o]) % kAlign != 0 || item != 4) return false;
      large |= g_.total() * item >= kStreamBytes;
      // Lines that were read are in the cache already.
      if (std::find(in_.begin(), in_.end(), out_[o]) != in_.end()) return false;
    }
    return large;
  }

  // --- the ways to cut the work ---------------------------------------------------------------

  /// No memory of their own is needed, or little of it.
  void run_elements() {
    const int64_t items = (g_.total() + run_length_ - 1) / std::max<int64_t>(1, run_length_);
    if (p_.has_rows()) return run_plain_rows();
    if (items == 1 && !lays_out_) return run_one_long();
    const int64_t grain = std::max<int64_t>(1, kGrain / run_length_);
    parallel_for(items, grain, [&](int64_t begin, int64_t end) {
      alignas(kAlign) char memory[kStackBytes];
      Scratch s(*this, memory, lays_out_ ? run_length_ : 0);
      for (int64_t item = begin; item < end; ++item) {
        const int64_t start = item * run_length_;
        run_span(start, std::min(run_length_, g_.total() - start), start, item, s);
      }
    });
  }

  /// Every input is dense or one element: cut anywhere.
  void run_one_long() {
    int64_t grain = kGrain;
    if (stream_) {
      const int64_t longer = g_.total() / (kStreamPieces * num_threads());
      grain = std::max(grain, (longer + kRandomGroup - 1) / kRandomGroup * kRandomGroup);
    }
    parallel_for(g_.total(), grain, [&](int64_t begin, int64_t end) {
      Scratch s(*this, nullptr, 0);
      run_span(begin, end - begin, begin, 0, s);
      if (stream_) cpu::blocks().end_stream();
    });
  }

  void run_plain_rows() {
    const int64_t rows_a_grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g_.cols));
    parallel_for(g_.rows, rows_a_grain, [&](int64_t begin, int64_t end) {
      Scratch s(*this, nullptr, 0);
      for (int64_t row = begin; row < end; ++row) run_row(row, s);
    });
  }

  void run_row(int64_t row, Scratch& s) { run_span(row * g_.cols, g_.cols, 0, row, s); }

  /// Elements [start, start + n) of the space, which are element `at` on of run `item`.
  void run_span(int64_t start, int64_t n, int64_t at, int64_t item, Scratch& s) {
    const bool by_item = p_.has_rows() || (dims_ < g_.rank && !lays_out_);
    for (size_t k = 0; k < p_.inputs.size(); ++k) {
      const int input = static_cast<int>(k);
      const bool scalar = (scalars_ >> k) & 1u;
      int64_t offset = 0;
      if (by_item) {
        offset = g_.offset(input, item, g_.rank - dims_);
      } else if (!scalar) {
        offset = at;
      }
      s.in[k] = static_cast<const char*>(in_[k]) + offset * static_cast<int64_t>(item_bytes_[k]);
    }
    for (int i = 0; i < num_staged_; ++i) lay_out(staged_[i], s.stage[i], start, n, s);
    for (size_t o = 0; o < out_.size(); ++o) {
      const Instruction& value = p_.code[p_.outputs[o].value];
      const int64_t offset = value.level == Level::row ? item : start;
      s.out[o] = static_cast<char*>(out_[o]) + offset * static_cast<int64_t>(size_of(value.dtype));
    }
    const RunArgs args{s.in, s.out, s.kept, n};
    if (code_) {
      code_->run(args);
    } else {
      f_.interpreter_.run(args, scalars_);
    }
  }

  void lay_out(uint8_t source, char* memory, int64_t start, int64_t n, Scratch& s) {
    if (source < p_.inputs.size()) {
      g_.expand(source, static_cast<const char*>(in_[source]), start, n, item_bytes_[source],
                memory);
      s.in[source] = memory;
      return;
    }
    const size_t drawn = source - p_.inputs.size();
    const int64_t first = start / kRandomGroup * kRandomGroup;
    const auto back = static_cast<uintptr_t>(first) * item_bytes_[source];
    fills_[drawn](draws_[drawn], first, start + n,
                  reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) - back));
    s.in[source] = memory + static_cast<size_t>(start - first) * item_bytes_[source];
  }

  // --- one long row ---------------------------------------------------------------------------

  size_t split_bytes() const {
    const size_t results = f_.split_->parts->program_.outputs.size();
    return results * (aligned(static_cast<size_t>(parts()) * 8) + kAlign);
  }

  void run_split(std::span<const Shape* const> shapes, char* workspace) {
    const CompiledFusion& part = *f_.split_->parts;
    const size_t results = part.program_.outputs.size();
    const size_t column = aligned(static_cast<size_t>(parts()) * 8);
    code_ = part.code_for(scalars_, false);
    parallel_for(parts(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const void* in[kMaxSources];
        void* out[kMaxInstructions];
        for (size_t k = 0; k < in_.size(); ++k) {
          const int64_t skip = (scalars_ >> k) & 1u ? 0 : i * kPart;
          in[k] = static_cast<const char*>(in_[k]) + skip * static_cast<int64_t>(item_bytes_[k]);
        }
        for (size_t r = 0; r < results; ++r) {
          out[r] = workspace + r * column +
                   static_cast<size_t>(i) * size_of(part.program_.output_dtype(r));
        }
        const RunArgs args{in, out, nullptr, std::min(kPart, g_.cols - i * kPart)};
        if (code_) {
          code_->run(args);
        } else {
          part.interpreter_.run(args, scalars_);
        }
      }
    });
    join_parts(shapes, workspace, column);
  }

  void join_parts(std::span<const Shape* const> shapes, char* workspace, size_t column) {
    const Shape one;
    const Shape* all[kMaxSources];
    const void* in[kMaxSources];
    size_t next = 0;
    for (; next < in_.size(); ++next) {
      all[next] = shapes[next];
      in[next] = in_[next];
    }
    size_t r = 0;
    char* joined = workspace + f_.split_->parts->program_.outputs.size() * column;
    for (const Instruction& i : p_.code) {
      if (i.code != Code::reduce) continue;
      join(i, workspace + r * column, joined + r * kAlign);
      all[next] = &one;
      in[next++] = joined + r * kAlign;
      ++r;
    }
    // What is left reads single elements only.
    for (size_t k = 0; k < in_.size(); ++k) {
      if (shapes[k]->num_elements() != 1) all[k] = &one;
    }
    f_.split_->rest->run({all, next}, {in, next}, out_, nullptr);
  }

  void join(const Instruction& i, const char* from, char* to) const {
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
        const bool is_sum = i.reduction == Reduction::sum || i.reduction == Reduction::mean;
        *reinterpret_cast<T*>(to) = is_sum ? static_cast<T>(static_cast<computed<T>>(sum)) : best;
      }
    });
  }
  template <class T>
  using computed =
      std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

  const CompiledFusion& f_;
  const Program& p_;
  const Geometry g_;
  int dims_ = 0;  // dimensions of a run
  bool on_stack_ = false, lays_out_ = false, stream_ = false;
  int64_t run_length_ = 0;
  ScalarMask scalars_ = 0;
  int num_staged_ = 0;
  uint8_t staged_[kMaxSources];
  size_t item_bytes_[kMaxSources];
  const MachineCode* code_ = nullptr;
  std::span<const void* const> in_;
  std::span<void* const> out_;
  cpu::RandomDraw draws_[kMaxSources - kMaxInputs];
  cpu::RandomFill fills_[kMaxSources - kMaxInputs];
};

CompiledFusion::CompiledFusion(Program program, bool may_split)
    : program_((verify(program), std::move(program))),
      schedule_(schedule(program_)),
      sources_(program_),
      interpreter_(program_, schedule_, sources_),
      level_(level_in_use()) {
  const bool exact = std::all_of(program_.code.begin(), program_.code.end(), [](const auto& i) {
    return i.code != Code::reduce || i.reduction != Reduction::mean || is_floating(i.dtype);
  });
  if (!may_split || !program_.has_rows() || !schedule_.is_one_reduction(program_) || !exact) return;
  if (program_.has_random()) return;
  const auto reductions = static_cast<size_t>(
      std::count_if(program_.code.begin(), program_.code.end(),
                    [](const Instruction& i) { return i.code == Code::reduce; }));
  if (program_.inputs.size() + reductions > kMaxInputs || reductions > kMaxOutputs) return;
  auto split = std::make_unique<Split>();
  split->parts.reset(new CompiledFusion(reductions_of(program_), false));
  split->rest.reset(new CompiledFusion(rest_of(program_), false));
  split_ = std::move(split);
}

CompiledFusion::~CompiledFusion() = default;

std::shared_ptr<const CompiledFusion> CompiledFusion::make(Program program) {
  return std::shared_ptr<const CompiledFusion>(new CompiledFusion(std::move(program), true));
}

const MachineCode* CompiledFusion::code_for(ScalarMask scalars, bool stream) const {
  if (level_ == CodeLevel::none) return nullptr;
  const auto find = [&](int count) -> const Variant* {
    for (int i = 0; i < count; ++i) {
      if (variants_[i].scalars == scalars && variants_[i].stream == stream) return &variants_[i];
    }
    return nullptr;
  };
  if (const Variant* v = find(variants_used_.load(std::memory_order_acquire))) return v->code.get();
  const std::lock_guard lock(emitting_);
  const int used = variants_used_.load(std::memory_order_relaxed);
  if (const Variant* v = find(used)) return v->code.get();
  if (used == kMaxVariants) return nullptr;
  Variant& made = variants_[used];
  made.scalars = scalars;
  made.stream = stream;
  made.code = emit(program_, schedule_, sources_, {level_, scalars, stream});
  variants_used_.store(used + 1, std::memory_order_release);
  return made.code.get();
}

size_t CompiledFusion::workspace(std::span<const Shape* const> shapes) const {
  return Run(*this, shapes).workspace();
}

void CompiledFusion::run(std::span<const Shape* const> shapes, std::span<const void* const> in,
                         std::span<void* const> out, void* workspace) const {
  Run(*this, shapes).run(shapes, in, out, workspace);
}

bool CompiledFusion::may_write_into(size_t output, size_t input) const {
  const Instruction& value = program_.code[program_.outputs[output].value];
  if (value.level != Level::element || value.dtype != program_.inputs[input]) return false;
  const auto reads = [&](Value v) {
    return program_.code[v].code == Code::load && program_.code[v].input == input;
  };
  // Nothing may be read once it is written over.
  bool written = false;
  for (const Pass& pass : schedule_.passes) {
    for (const Step& s : pass.elements) {
      const Instruction& i = program_.code[s.value];
      bool is_read = reads(s.value);
      if (s.kind == Step::Kind::compute || s.kind == Step::Kind::reduce) {
        for (int a = 0; a < i.arity; ++a) is_read |= reads(i.args[static_cast<size_t>(a)]);
      }
      if (written && is_read) return false;
      written |= s.kind == Step::Kind::store && s.slot == output;
    }
  }
  return true;
}

size_t CompiledFusion::bytes() const {
  size_t bytes = sizeof(CompiledFusion) + bytes_of(program_) + interpreter_.bytes();
  const int used = variants_used_.load(std::memory_order_acquire);
  for (int i = 0; i < used; ++i) {
    if (variants_[i].code) bytes += variants_[i].code->bytes();
  }
  if (split_) bytes += split_->parts->bytes() + split_->rest->bytes();
  return bytes;
}

}  // namespace tidemark::fusion
