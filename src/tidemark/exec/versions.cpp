#include "tidemark/exec/versions.h"

#include "tidemark/base/settings.h"
#include "tidemark/compile/pass.h"

namespace tidemark::exec {

namespace {

constinit Specialiser specialiser = nullptr;

/// Inputs that nobody looks at may be missing.
uint64_t hash_of(std::span<const Tensor> inputs) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const Tensor& t : inputs) {
    if (!t) continue;
    mix(static_cast<uint64_t>(t.rank()) + 77);
    for (int64_t d : t.shape()) mix(static_cast<uint64_t>(d));
  }
  return hash | 1;
}

}  // namespace

void set_specialiser(Specialiser chosen) noexcept { specialiser = chosen; }

std::shared_ptr<graph::Graph> specialise(const Program& program, std::span<const Tensor> inputs) {
  if (!specialiser) return nullptr;
  std::shared_ptr<graph::Graph> graph = specialiser(program, inputs);
  return graph ? compile::run_passes(std::move(graph)) : nullptr;
}

Versions::~Versions() {
  const Version* next = newest_.load(std::memory_order_acquire);
  while (next) delete std::exchange(next, next->older);
}

bool Versions::Version::fits(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].has_rank() && !(inputs[i].shape() == shapes[i])) return false;
  }
  return true;
}

const Versions::Version* Versions::known(std::span<const Tensor> inputs) const {
  const Version* next = newest_.load(std::memory_order_acquire);
  while (next && !next->fits(inputs)) next = next->older;
  return next;
}

bool Versions::was_seen(std::span<const Tensor> inputs) {
  const uint64_t hash = hash_of(inputs);
  const std::lock_guard lock(mutex_);
  for (uint64_t seen : seen_) {
    if (seen == hash) return true;
  }
  seen_[next_seen_] = hash;
  next_seen_ = (next_seen_ + 1) % kRemembered;
  return false;
}

const Executable* Versions::find(const Program& program, std::span<const Tensor> inputs) {
  if (const Version* version = known(inputs)) return version->executable.get();
  if (count_.load(std::memory_order_relaxed) >= kMost) return nullptr;
  if (when_ == Compile::when_repeated && !was_seen(inputs)) return nullptr;
  return compile(program, inputs);
}

const Executable* Versions::compile(const Program& program, std::span<const Tensor> inputs) {
  const std::lock_guard lock(mutex_);
  if (const Version* version = known(inputs)) return version->executable.get();
  auto made = std::make_unique<Version>();
  for (const Tensor& t : inputs) made->shapes.push_back(t ? t.shape() : Shape::unknown());
  for (const uint32_t unused : program.unused_inputs()) made->shapes[unused] = Shape::unknown();
  try {
    if (const auto graph = specialise(program, inputs)) {
      made->executable = std::make_unique<Executable>(*graph, plan::plan_graph(*graph));
    }
  } catch (const InternalError&) {
    throw;  // a fault of ours must not hide
  } catch (const Error&) {
    made->executable.reset();  // the run itself says what is wrong
  }
  made->older = newest_.load(std::memory_order_relaxed);
  const Executable* executable = made->executable.get();
  newest_.store(made.release(), std::memory_order_release);
  count_.fetch_add(1, std::memory_order_relaxed);
  return executable;
}

size_t Versions::bytes() const {
  size_t bytes = 0;
  for (const Version* v = newest_.load(std::memory_order_acquire); v; v = v->older) {
    bytes += sizeof(Version) + v->shapes.size() * sizeof(Shape);
    if (v->executable) bytes += v->executable->bytes();
  }
  return bytes;
}

}  // namespace tidemark::exec
