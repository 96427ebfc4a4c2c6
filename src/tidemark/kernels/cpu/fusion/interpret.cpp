#include "tidemark/kernels/cpu/fusion/interpret.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tidemark/base/plain_type.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/kernels/cpu/isa/reduce_loops.h"

namespace tidemark::fusion {

namespace {

constexpr int64_t kFrameBytes = 96 << 10;  // on the stack of the thread
constexpr int64_t kLongestBlock = 1024;
constexpr int64_t kElementBytes = 8;
constexpr int64_t kOnce = cpu::kVectorRun;  // a row's value is computed so many times over

int64_t padded(int64_t n) { return (n + cpu::kVectorRun - 1) & ~(cpu::kVectorRun - 1); }

void round_to(DType half, float* x, int64_t n) {
  uint16_t narrow[kLongestBlock];
  const cpu::BlockTable& b = cpu::blocks();
  if (half == DType::float16) {
    b.float_to_half(narrow, x, n);
    b.half_to_float(x, narrow, n);
  } else {
    b.float_to_bfloat16(narrow, x, n);
    b.bfloat16_to_float(x, narrow, n);
  }
}

void widen(DType from, void* out, const void* in, int64_t n) {
  const cpu::BlockTable& b = cpu::blocks();
  (from == DType::float16 ? b.half_to_float : b.bfloat16_to_float)(
      static_cast<float*>(out), static_cast<const uint16_t*>(in), n);
}

void narrow(DType to, void* out, const void* in, int64_t n) {
  const cpu::BlockTable& b = cpu::blocks();
  (to == DType::float16 ? b.float_to_half : b.float_to_bfloat16)(static_cast<uint16_t*>(out),
                                                                 static_cast<const float*>(in), n);
}

cpu::LoopFn select_of(DType d) {
  switch (size_of(d)) {
    case 1:
      return cpu::blocks().select_1;
    case 2:
      return cpu::blocks().select_2;
    case 4:
      return cpu::blocks().select_4;
    default:
      return cpu::blocks().select_8;
  }
}

/// The accumulators of a row's reductions: double for sums of floats, else the element's type.
struct Accumulator {
  alignas(8) char bytes[8];
};

void start(const Instruction& i, Accumulator& acc) {
  with_plain_type(computed_in(i.dtype), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) {
      using L = std::numeric_limits<T>;
      T value = zero;
      if (i.reduction == Reduction::max) value = L::has_infinity ? -L::infinity() : L::lowest();
      if (i.reduction == Reduction::min) value = L::has_infinity ? L::infinity() : L::max();
      std::memset(acc.bytes, 0, sizeof(acc.bytes));
      if (!is_sum(i.reduction)) std::memcpy(acc.bytes, &value, sizeof(T));
    }
  });
}

void take_in(const Instruction& i, Accumulator& acc, const void* x, int64_t n) {
  const cpu::ReduceLoop loop = is_sum(i.reduction)             ? cpu::ReduceLoop::sum
                               : i.reduction == Reduction::max ? cpu::ReduceLoop::max
                                                               : cpu::ReduceLoop::min;
  const DType dtype = computed_in(i.dtype);
  const auto& pair = cpu::reduce_loops().pairs[static_cast<int>(loop)][static_cast<int>(dtype)];
  pair.rows(x, 1, n, n, nullptr, acc.bytes);
}

/// The result kOnce times over.
void finish(const Instruction& i, const Accumulator& acc, int64_t n, void* out) {
  with_plain_type(computed_in(i.dtype), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) {
      T value;
      if (is_sum(i.reduction) && std::is_floating_point_v<T>) {
        double sum;
        std::memcpy(&sum, acc.bytes, sizeof(sum));
        if (i.reduction == Reduction::mean) sum /= static_cast<double>(n);
        value = static_cast<T>(sum);
      } else {
        std::memcpy(&value, acc.bytes, sizeof(T));
      }
      std::fill_n(static_cast<T*>(out), kOnce, value);
    }
  });
  if (is_half(i.dtype)) round_to(i.dtype, static_cast<float*>(out), kOnce);
}

void constant_bytes(const Instruction& i, void* out) {
  with_plain_type(computed_in(i.dtype), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) {
      const T value = static_cast<T>(i.params[0]);
      std::memcpy(out, &value, sizeof(T));
    }
  });
  if (is_half(i.dtype)) round_to(i.dtype, static_cast<float*>(out), 1);
}

}  // namespace

Sources::Sources(const FusedProgram& program) : of(program.code.size(), 0) {
  dtypes = program.inputs;
  for (size_t v = 0; v < program.code.size(); ++v) {
    const Instruction& i = program.code[v];
    if (i.code == Code::load) of[v] = i.input;
    if (i.code != Code::random) continue;
    of[v] = static_cast<uint16_t>(dtypes.size());
    dtypes.push_back(i.dtype);
  }
  count = static_cast<int>(dtypes.size());
  if (count > kMaxSources) fail<InternalError>("a fused program has ", count, " sources");
}

/// The memory of one run and the steps on it.
class Interpreter::Frame {
 public:
  Frame(const Interpreter& it, const RunArgs& args, ScalarMask scalars)
      : it_(it), p_(it.program_), args_(args), scalars_(scalars) {
    for (Value v = 0; v < p_.code.size(); ++v) at_[v] = nullptr;
    prepare_splats();
  }

  void once(const Op& op) {
    const Instruction& i = p_.code[op.step.value];
    if (op.step.kind == PassStep::Kind::store) {
      write(op, splat(op.step.value), 1, 0);
    } else {
      compute_into(op, i, splat(op.step.value), kOnce);
      extend(op.step.value);
    }
  }

  void element(const Op& op, int64_t at, int64_t n) {
    const Value v = op.step.value;
    const Instruction& i = p_.code[v];
    switch (op.step.kind) {
      case PassStep::Kind::compute:
        return compute(op, i, v, at, n);
      case PassStep::Kind::restore:
        at_[v] = static_cast<char*>(args_.kept[op.step.slot]) +
                 at * static_cast<int64_t>(size_of(op.out));
        return;
      case PassStep::Kind::keep:
        std::memcpy(static_cast<char*>(args_.kept[op.step.slot]) +
                        at * static_cast<int64_t>(size_of(op.out)),
                    value(v), static_cast<size_t>(padded(n)) * size_of(op.out));
        return;
      case PassStep::Kind::store:
        return write(op, value(v), n, at);
      case PassStep::Kind::reduce:
        return take_in(i, acc_[v], value(i.args[0]), n);
      case PassStep::Kind::collect:
        return collect(op, i, at, n);
    }
  }

  void start_reduction(Value v) { start(p_.code[v], acc_[v]); }
  void end_reduction(Value v) {
    finish(p_.code[v], acc_[v], args_.n, splat(v));
    extend(v);
  }

 private:
  char* splat(Value v) { return memory_ + it_.splat_[v] * it_.block_ * kElementBytes; }
  char* slot(int s) { return memory_ + (it_.splats_ + s) * it_.block_ * kElementBytes; }
  const char* value(Value v) { return it_.splat_[v] >= 0 && !at_[v] ? splat(v) : at_[v]; }

  bool is_scalar(Value v) const { return (scalars_ >> it_.sources_.of[v]) & 1u; }

  void prepare_splats() {
    for (Value v = 0; v < p_.code.size(); ++v) {
      if (it_.splat_[v] < 0) continue;
      const Instruction& i = p_.code[v];
      if (i.code == Code::constant) {
        constant_bytes(i, splat(v));
      } else if (i.code == Code::load && is_scalar(v)) {
        read(i.dtype, splat(v), args_.in[it_.sources_.of[v]], 1);
      } else {
        continue;
      }
      repeat(v, 1);
    }
  }
  /// From kOnce elements to a block.
  void extend(Value v) { repeat(v, kOnce); }
  void repeat(Value v, int64_t have) {
    const auto size = static_cast<int64_t>(size_of(computed_in(p_.code[v].dtype)));
    const int64_t want = std::min(it_.block_, padded(args_.n));
    char* x = splat(v);
    if (want > have) cpu::blocks().fill(x + have * size, x, size, want - have);
  }

  static void read(DType dtype, void* out, const void* in, int64_t n) {
    if (is_half(dtype)) return widen(dtype, out, in, n);
    std::memcpy(out, in, static_cast<size_t>(n) * size_of(dtype));
  }

  void write(const Op& op, const void* x, int64_t n, int64_t at) {
    const DType dtype = p_.code[op.step.value].dtype;
    char* out =
        static_cast<char*>(args_.out[op.step.slot]) + at * static_cast<int64_t>(size_of(dtype));
    if (is_half(dtype)) return narrow(dtype, out, x, n);
    std::memcpy(out, x, static_cast<size_t>(n) * size_of(dtype));
  }

  void compute(const Op& op, const Instruction& i, Value v, int64_t at, int64_t n) {
    if (i.code == Code::load || i.code == Code::random) {
      if (it_.splat_[v] >= 0 && is_scalar(v)) return;
      const char* from = static_cast<const char*>(args_.in[it_.sources_.of[v]]) +
                         at * static_cast<int64_t>(size_of(i.dtype));
      if (!is_half(i.dtype) && padded(n) == n) {
        at_[v] = from;
        return;
      }
      char* to = slot(op.slot);
      read(i.dtype, to, from, n);
      const auto size = static_cast<int64_t>(size_of(op.out));
      if (padded(n) != n) {
        cpu::blocks().fill(to + n * size, to + (n - 1) * size, size, padded(n) - n);
      }
      at_[v] = to;
      return;
    }
    if (i.code == Code::constant) return;
    compute_into(op, i, slot(op.slot), padded(n));
    at_[v] = slot(op.slot);
  }

  /// Lanes behind the run are left as they are.
  void collect(const Op& op, const Instruction& i, int64_t at, int64_t n) {
    const auto size = static_cast<int64_t>(size_of(op.out));
    char* lanes = static_cast<char*>(args_.kept[it_.first_lanes_ + op.step.slot]) + at * size;
    const void* in[cpu::kMaxLoopInputs] = {lanes, value(i.args[0])};
    char* joined = slot(op.slot);
    op.loop(joined, in, padded(n), op.params);
    std::memcpy(lanes, joined, static_cast<size_t>(n * size));
  }

  /// n is a whole number of vectors.
  void compute_into(const Op& op, const Instruction& i, char* out, int64_t n) {
    if (i.code == Code::load) {  // once a row
      read(i.dtype, out, args_.in[it_.sources_.of[op.step.value]], 1);
      const auto size = static_cast<int64_t>(size_of(op.out));
      cpu::blocks().fill(out + size, out, size, n - 1);
      return;
    }
    const void* in[cpu::kMaxLoopInputs] = {};
    for (int a = 0; a < i.arity; ++a) in[a] = value(i.args[static_cast<size_t>(a)]);
    if (op.loop) {
      op.loop(out, in, n, op.params);
    } else {
      std::memcpy(out, in[0], static_cast<size_t>(n) * size_of(op.out));
    }
    if (is_half(i.dtype) && i.code != Code::select) {
      round_to(i.dtype, reinterpret_cast<float*>(out), n);
    }
  }

  const Interpreter& it_;
  const FusedProgram& p_;
  const RunArgs& args_;
  const ScalarMask scalars_;
  const char* at_[kMaxInstructions];
  Accumulator acc_[kMaxInstructions];
  alignas(64) char memory_[kFrameBytes];
};

Interpreter::Interpreter(const FusedProgram& program, const Schedule& schedule,
                         const Sources& sources)
    : program_(program),
      sources_(sources),
      first_lanes_(schedule.kept.size()),
      splat_(program.code.size(), -1) {
  for (size_t v = 0; v < program.code.size(); ++v) {
    const Instruction& i = program.code[v];
    const bool may_be_scalar = i.code == Code::load || i.code == Code::constant;
    if (may_be_scalar || i.level == Level::row) splat_[v] = static_cast<int16_t>(splats_++);
  }
  for (const Pass& pass : schedule.passes) {
    CompiledPass& compiled = passes_.emplace_back();
    for (const PassStep& s : pass.once) compiled.once.push_back(look_up(s));
    for (const PassStep& s : pass.elements) compiled.elements.push_back(look_up(s));
    place(compiled);
  }
  const int64_t most = kFrameBytes / kElementBytes / std::max(1, splats_ + slots_);
  block_ = std::min(kLongestBlock, most & ~(cpu::kVectorRun - 1));
  if (block_ < kOnce)
    fail<InternalError>("a fused program of ", program.code.size(),
                        " instructions is too long to run");
}

Interpreter::Op Interpreter::look_up(const PassStep& step) const {
  Op op;
  op.step = step;
  const Instruction& i = program_.code[step.value];
  op.out = computed_in(i.dtype);
  op.params.values[0] = i.params[0];
  op.params.values[1] = i.params[1];
  op.in = i.arity > 0 ? computed_in(program_.code[i.args[0]].dtype) : op.out;
  if (step.kind == PassStep::Kind::collect) {
    const char* joins = is_sum(i.reduction)             ? "add"
                        : i.reduction == Reduction::max ? "maximum"
                                                        : "minimum";
    op.loop = cpu::loop_for(joins, op.out)->run;
  }
  if (step.kind != PassStep::Kind::compute) return op;
  if (i.code == Code::map) {
    op.loop = cpu::loop_for(i.op->name(), program_.code[i.args[0]].dtype)->run;
  } else if (i.code == Code::select) {
    op.loop = select_of(op.out);
  } else if (i.code == Code::cast && op.in != op.out) {
    op.loop = cpu::cast_loop(op.in, op.out);
  }
  return op;
}

/// Gives every value computed in the pass a slot until its last use there.
void Interpreter::place(CompiledPass& pass) {
  std::vector<int> last(program_.code.size(), -1);
  for (size_t s = 0; s < pass.elements.size(); ++s) {
    const PassStep& step = pass.elements[s].step;
    const Instruction& i = program_.code[step.value];
    last[step.value] = static_cast<int>(s);
    if (!step.reads_args()) continue;
    for (int a = 0; a < i.arity; ++a) last[i.args[a]] = static_cast<int>(s);
  }
  std::vector<int16_t> slot_of(program_.code.size(), -1), free;
  for (size_t s = 0; s < pass.elements.size(); ++s) {
    Op& op = pass.elements[s];
    const Instruction& i = program_.code[op.step.value];
    const bool computes = op.step.kind == PassStep::Kind::compute && i.code != Code::constant;
    if (computes || op.step.kind == PassStep::Kind::collect) {
      if (free.empty()) free.push_back(static_cast<int16_t>(slots_++));
      op.slot = slot_of[op.step.value] = free.back();
      free.pop_back();
    }
    for (size_t v = 0; v < last.size(); ++v) {
      if (last[v] == static_cast<int>(s) && slot_of[v] >= 0) {
        free.push_back(slot_of[v]);
        slot_of[v] = -1;
      }
    }
  }
}

void Interpreter::run(const RunArgs& args, ScalarMask scalars) const {
  Frame frame(*this, args, scalars);
  for (const CompiledPass& pass : passes_) {
    for (const Op& op : pass.once) frame.once(op);
    for (const Op& op : pass.elements) {
      if (op.step.kind == PassStep::Kind::reduce) frame.start_reduction(op.step.value);
    }
    if (pass.elements.empty()) continue;
    for (int64_t at = 0; at < args.n; at += block_) {
      const int64_t n = std::min(block_, args.n - at);
      for (const Op& op : pass.elements) frame.element(op, at, n);
    }
    for (const Op& op : pass.elements) {
      if (op.step.kind == PassStep::Kind::reduce) frame.end_reduction(op.step.value);
    }
  }
}

size_t Interpreter::bytes() const {
  size_t bytes = sizeof(Interpreter) + splat_.size() * sizeof(int16_t);
  for (const CompiledPass& pass : passes_) {
    bytes += (pass.once.size() + pass.elements.size()) * sizeof(Op);
  }
  return bytes;
}

}  // namespace tidemark::fusion
