#include "tidemark/kernels/cpu/fusion/sweep.h"

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/fusion/shown.h"

namespace tidemark::fusion {

namespace {

int64_t elements_of(const SweepItem& item) {
  int64_t most = 1;
  for (const Shape& shape : item.input_shapes) most = std::max(most, shape.num_elements());
  return most;
}

size_t count_variables(const std::vector<SweepItem>& items) {
  size_t count = 0;
  for (const SweepItem& item : items) count += item.outputs.size();
  return count;
}

void check_items(const std::vector<SweepItem>& items) {
  std::vector<int> writer(count_variables(items), -1);
  for (size_t i = 0; i < items.size(); ++i) {
    const FusedProgram& p = items[i].compiled->program();
    if (p.has_rows() || p.has_random() || p.inputs.size() != items[i].inputs.size() ||
        p.outputs.size() != items[i].outputs.size()) {
      fail<InternalError>("a sweep cannot run\n", to_string(p));
    }
    for (const int v : items[i].outputs) {
      if (writer[static_cast<size_t>(v)] >= 0) fail<InternalError>("a sweep writes twice");
      writer[static_cast<size_t>(v)] = static_cast<int>(i);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    for (const int v : items[i].inputs) {
      if (v >= 0 && writer[static_cast<size_t>(v)] != static_cast<int>(i)) {
        fail<InternalError>("a sweep reads what another part of it writes");
      }
    }
  }
}

}  // namespace

Sweep::Sweep(std::vector<SweepItem> items) : items_(std::move(items)) {
  std::stable_sort(items_.begin(), items_.end(), [](const SweepItem& a, const SweepItem& b) {
    return elements_of(a) > elements_of(b);
  });
  while (num_large_ < items_.size() && elements_of(items_[num_large_]) >= kLargeUpdate)
    ++num_large_;
  check_items(items_);
  find_outputs();
}

void Sweep::find_outputs() {
  output_shapes_.resize(count_variables(items_));
  output_dtypes_.resize(output_shapes_.size());
  for (const SweepItem& item : items_) {
    std::vector<const Shape*> shapes;
    for (const Shape& shape : item.input_shapes) shapes.push_back(&shape);
    shaped_.emplace_back(compiled_here(*item.compiled), shapes);
    const FusedProgram& p = item.compiled->program();
    const Shape space = space_of(p, shapes);
    for (size_t o = 0; o < item.outputs.size(); ++o) {
      const auto variable = static_cast<size_t>(item.outputs[o]);
      output_shapes_[variable] = output_shape(p, o, space);
      output_dtypes_[variable] = p.output_dtype(o);
    }
  }
}

std::string Sweep::describe() const {
  return message("sweep over ", output_shapes_.size(), " variables");
}

bool Sweep::equals(const Special& other) const {
  const auto& sweep = static_cast<const Sweep&>(other);
  return std::equal(items_.begin(), items_.end(), sweep.items_.begin(), sweep.items_.end(),
                    [](const SweepItem& a, const SweepItem& b) {
                      return a.inputs == b.inputs && a.outputs == b.outputs &&
                             a.input_shapes == b.input_shapes &&
                             a.compiled->program() == b.compiled->program();
                    });
}

size_t Sweep::bytes() const {
  size_t bytes = sizeof(Sweep) + output_shapes_.size() * (sizeof(Shape) + sizeof(DType));
  for (const ShapedFusion& shaped : shaped_) bytes += shaped.bytes();
  std::vector<const CompiledProgram*> seen;
  for (const SweepItem& item : items_) {
    bytes += sizeof(SweepItem) + item.input_shapes.size() * (sizeof(Shape) + 2 * sizeof(int));
    if (std::find(seen.begin(), seen.end(), item.compiled.get()) != seen.end()) continue;
    seen.push_back(item.compiled.get());
    bytes += compiled_here(*item.compiled).bytes();
  }
  return bytes;
}

std::vector<graph::InnerProgram> Sweep::inner_programs() const {
  std::vector<std::pair<const FusedProgram*, int>> counted;
  for (const SweepItem& item : items_) {
    const FusedProgram& program = item.compiled->program();
    const auto known = std::find_if(counted.begin(), counted.end(),
                                    [&](const auto& c) { return *c.first == program; });
    if (known != counted.end()) {
      ++known->second;
    } else {
      counted.emplace_back(&program, 1);
    }
  }
  std::vector<graph::InnerProgram> out;
  for (const auto& [program, times] : counted) {
    out.push_back(shown(*program));
    out.back().times = times;
  }
  return out;
}

void Sweep::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs, void*) const {
  const SweepMemory memory{inputs, outputs};
  for (size_t i = 0; i < num_large_; ++i) run_item(i, memory);
  const auto small = static_cast<int64_t>(items_.size() - num_large_);
  if (small == 0) return;
  int64_t elements = 0;
  for (size_t i = num_large_; i < items_.size(); ++i) elements += elements_of(items_[i]);
  // About as many elements a piece as a thread is woken for.
  const int64_t grain =
      std::max<int64_t>(1, small * (kLargeUpdate / 4) / std::max<int64_t>(1, elements));
  parallel_for(small, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run_item(num_large_ + static_cast<size_t>(i), memory);
  });
}

void Sweep::run_item(size_t index, const SweepMemory& memory) const {
  const SweepItem& item = items_[index];
  const void* in[kMaxInputs];
  void* out[kMaxOutputs];
  for (size_t i = 0; i < item.inputs.size(); ++i) in[i] = memory.input(item.inputs[i]);
  for (size_t o = 0; o < item.outputs.size(); ++o) out[o] = memory.output(item.outputs[o]);
  shaped_[index].run({in, item.inputs.size()}, {out, item.outputs.size()}, nullptr);
}

}  // namespace tidemark::fusion
