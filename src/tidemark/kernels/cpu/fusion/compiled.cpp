#include "tidemark/kernels/cpu/fusion/compiled.h"

#include <algorithm>

#include "tidemark/base/settings.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/kernels/cpu/fusion/shaped.h"

namespace tidemark::fusion {

namespace {

std::atomic<BackEnd>& back_end_in_use() {
  static std::atomic<BackEnd> in_use{
      settings::text(settings::kFusion) == "interpret" ? BackEnd::interpreter : BackEnd::best};
  return in_use;
}

CodeLevel level_in_use() {
  const CodeLevel best = best_code_level();
  switch (back_end_in_use().load(std::memory_order_relaxed)) {
    case BackEnd::interpreter:
      return CodeLevel::none;
    case BackEnd::avx2:
      return std::min(best, CodeLevel::avx2);
    default:
      return best;
  }
}

/// Throws InternalError where an instruction is none of the CPU's.
void check_code(const FusedProgram& p) {
  verify(p);
  for (const Instruction& i : p.code) {
    if (i.code != Code::map || cpu::loop_for(i.op->name(), p.code[i.args[0]].dtype)) continue;
    fail<InternalError>("a fused program is broken: no loop of ", i.op->name(), " fits");
  }
}

/// The part of a program before and with its reductions; reductions are the outputs, means sums.
FusedProgram reductions_of(const FusedProgram& p) {
  FusedProgram part = p;
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
FusedProgram rest_of(const FusedProgram& p) {
  FusedProgram rest;
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

BackEnd set_back_end(BackEnd back_end) { return back_end_in_use().exchange(back_end); }

CompiledFusion::CompiledFusion(FusedProgram program, bool may_split)
    : program_((check_code(program), std::move(program))),
      schedule_(schedule(program_)),
      sources_(program_),
      interpreter_(program_, schedule_, sources_),
      level_(level_in_use()) {
  const bool exact = std::all_of(program_.code.begin(), program_.code.end(), [](const auto& i) {
    return i.code != Code::reduce || i.reduction != Reduction::mean || is_floating(i.dtype);
  });
  if (!may_split || !program_.has_rows() || !schedule_.is_one_reduction(program_) || !exact) return;
  if (program_.has_random() || program_.has_columns()) return;
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

std::shared_ptr<const CompiledFusion> CompiledFusion::make(FusedProgram program) {
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

bool CompiledFusion::is_machine_code() const {
  const int used = variants_used_.load(std::memory_order_acquire);
  return std::any_of(variants_, variants_ + used,
                     [](const Variant& v) { return v.code != nullptr; });
}

size_t CompiledFusion::workspace(std::span<const Shape* const> shapes) const {
  return ShapedFusion(*this, shapes).workspace();
}

void CompiledFusion::run(std::span<const Shape* const> shapes, std::span<const void* const> in,
                         std::span<void* const> out, void* workspace) const {
  ShapedFusion(*this, shapes).run(in, out, workspace);
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
    for (const PassStep& s : pass.elements) {
      const Instruction& i = program_.code[s.value];
      bool is_read = reads(s.value);
      if (s.reads_args()) {
        for (int a = 0; a < i.arity; ++a) is_read |= reads(i.args[static_cast<size_t>(a)]);
      }
      if (written && is_read) return false;
      written |= s.kind == PassStep::Kind::store && s.slot == output;
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
