#include "tidemark/data/dataset.h"

#include "tidemark/base/interrupt.h"
#include "tidemark/base/placement.h"
#include "tidemark/data/state.h"
#include "tidemark/memory/context.h"

namespace tidemark::data {

namespace {

/// Names a step to memory/ as long as it works. Unlike elsewhere the innermost one wins: what a
/// pipeline allocates belongs to the step that does it, whoever asks for the element. Pipelines
/// work on the host, wherever their elements are used: as TensorFlow's do.
class StepScope {
 public:
  explicit StepScope(const Dataset* of)
      : site_(memory::thread_context.site), op_(memory::thread_context.op) {
    if (!of) return;
    if (of->site()) memory::thread_context.site = of->site();
    memory::thread_context.op = of->name();
  }
  ~StepScope() {
    memory::thread_context.site = site_;
    memory::thread_context.op = op_;
  }
  StepScope(const StepScope&) = delete;

 private:
  memory::Site* site_;
  const char* op_;
  const PlacementScope on_host_{Device()};
};

}  // namespace

void bring_to_host(Element& element) {
  for (Tensor& t : element) {
    if (!t.device().is_cpu()) t = t.to(Device());
  }
}

Function on_host(Function function) {
  return [function = std::move(function)](Element&& element) {
    const PlacementScope here{Device()};
    Element made = function(std::move(element));
    bring_to_host(made);
    return made;
  };
}

Dataset::Dataset(const char* name) : name_(name), site_(memory::thread_context.site) {
  if (site_) memory::pin(*site_);
}

Dataset::~Dataset() {
  if (site_) memory::unpin(*site_);
}

std::unique_ptr<Iterator> Dataset::iterate() const {
  const StepScope step(this);
  std::unique_ptr<Iterator> made = start();
  if (!made->of_) made->of_ = shared_from_this();
  return made;
}

bool Iterator::next(Element& out) {
  check_interrupt();
  const StepScope step(of_.get());
  return take_next(out);
}

int64_t Iterator::next_block(int64_t count, Element& out) {
  const StepScope step(of_.get());
  return take_block(count, out);
}

int64_t Iterator::skip(int64_t count) {
  const StepScope step(of_.get());
  return leave_out(count);
}

void Iterator::save(StateWriter& to) {
  const StepScope step(of_.get());
  to.text(of_ ? of_->name() : "");
  save_state(to);
}

void Iterator::restore(StateReader& from) {
  const StepScope step(of_.get());
  const std::string name = from.text();
  const std::string_view own = of_ ? of_->name() : "";
  if (name != own) {
    StateReader::damaged(message("it was saved by another pipeline: it has \"", name,
                                 "\" where this one has \"", own, "\""));
  }
  restore_state(from);
}

int64_t Iterator::take_block(int64_t, Element&) { return -1; }

int64_t Iterator::leave_out(int64_t count) {
  Element unused;
  int64_t done = 0;
  while (done < count && take_next(unused)) ++done;
  return done;
}

}  // namespace tidemark::data
