#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/handler.h>
#include <tidemark/ops.h>
#include <tidemark/train.h>

#include "tidemark/memory/context.h"
#include "tidemark/nn/shapes.h"
#include "tidemark/trace/builder.h"
#include "tidemark/train/progress.h"

namespace tidemark::train {

double Metric::result() const {
  const Tensor value = result_();
  return value.dtype() == DType::float64 ? value.item<double>()
                                         : static_cast<double>(value.item<float>());
}

namespace {

/// Inputs, labels and, if there are any, weights of the rows.
void check_element(const data::Element& batch) {
  if (batch.size() == 2 || batch.size() == 3) return;
  fail("[fit] an element is (inputs, labels) or (inputs, labels, weights). Received: ",
       batch.size(), " tensors. Name what the model needs with map()");
}

/// The loss, as a mean over all rows seen, and the metrics.
struct Account {
  losses::Loss loss;
  metrics::Mean mean_loss;
  std::vector<Metric> metrics;

  /// Inside of a step: what is computed stays in variables.
  void add(const Tensor& loss_of_batch, const std::vector<Tensor>& batch, const Tensor& found) {
    const Tensor weights = batch.size() > 2 ? batch[2] : Tensor();
    // As Keras does: a last batch with fewer rows counts less.
    mean_loss.update(loss_of_batch, cast(nn::first_size(batch[0]), DType::float32));
    for (const Metric& one : metrics) one.update(batch[1], found, weights);
  }
  void reset() const {
    mean_loss.reset();
    for (const Metric& one : metrics) one.reset();
  }
  void write(Logs& logs, const std::string& prefix) const {
    logs[prefix + "loss"] = static_cast<double>(mean_loss.result().item<float>());
    for (const Metric& one : metrics) logs[prefix + one.name()] = one.result();
  }
};

Tensor loss_of(const losses::Loss& loss, const std::vector<Tensor>& batch, const Tensor& found) {
  return loss(batch[1], found, batch.size() > 2 ? batch[2] : Tensor());
}

/// Runs a step of two or three tensors.
template <class Step>
auto run_step(Step& step, data::Element& batch) {
  return batch.size() > 2 ? step(batch[0], batch[1], batch[2]) : step(batch[0], batch[1]);
}

/// A traced function of (inputs, labels) or (inputs, labels, weights).
template <class Code>
struct OfBatch {
  Code code;
  Tensor operator()(const Tensor& x, const Tensor& y) { return code({x, y}); }
  Tensor operator()(const Tensor& x, const Tensor& y, const Tensor& w) { return code({x, y, w}); }
};

template <class Code>
auto function_of_batch(Code code, FunctionOptions options) {
  return function(OfBatch<Code>{std::move(code)}, std::move(options));
}

class Evaluator {
 public:
  Evaluator(const nn::Module& model, detail::Forward forward, losses::Loss loss,
            std::vector<Metric> metrics)
      : model_(model),
        account_{std::move(loss), {}, std::move(metrics)},
        step_(function_of_batch(Code{this, std::move(forward)},
                                {.name = "evaluate", .memory_budget = 0})) {}
  Evaluator(const Evaluator&) = delete;

  void run(const data::Pipeline& batches, Logs& logs, const std::string& prefix) {
    const nn::EvalScope evaluated(model_);
    account_.reset();
    for (data::Element& batch : batches) {
      check_element(batch);
      run_step(step_, batch);
    }
    account_.write(logs, prefix);
  }

 private:
  struct Code {
    Evaluator* of;
    detail::Forward forward;
    Tensor operator()(const std::vector<Tensor>& batch) {
      const Tensor found = forward(batch[0]);
      const Tensor loss = loss_of(of->account_.loss, batch, found);
      of->account_.add(loss, batch, found);
      return loss;
    }
  };

  nn::Module model_;
  Account account_;
  Function<OfBatch<Code>> step_;
};

void tell(const std::vector<Callback>& all, std::function<void(Run&)> Callback::*what, Run& run) {
  for (const Callback& one : all) {
    if (one.*what) (one.*what)(run);
  }
}

void check_options(const FitOptions& options) {
  if (!options.loss) fail("[fit] `loss` is missing: say what is to become small");
  if (!options.optimizer) fail("[fit] `optimizer` is missing");
  if (options.epochs < 0) fail("[fit] `epochs` must not be negative. Received: ", options.epochs);
}

/// Traced and never run: layers that have not been called yet make their weights.
void build_model(const detail::Forward& forward, const Tensor& x) {
  trace::GraphBuilder never_run("build");
  const Tensor input = never_run.add_input(x.dtype(), x.shape());
  const trace::TraceScope scope(never_run);
  forward(input);
}

/// The plan of a step, once its first batch is known; or why there is none.
template <class Step>
void print_plan(Step& step, const data::Element& batch, const Progress& progress) {
  if (!progress.is_shown()) return;
  try {
    progress.print(batch.size() > 2 ? step.plan(batch[0], batch[1], batch[2]).to_string()
                                    : step.plan(batch[0], batch[1]).to_string());
  } catch (const FailedPreconditionError& error) {
    progress.print(std::string(error.what()) + "\n");
  }
}

}  // namespace

namespace detail {

History fit(const nn::Module& model, const Forward& forward, const data::Pipeline& batches,
            const FitOptions& options, const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  check_options(options);
  const NoHandlers outside;
  Account account{*options.loss, {}, options.metrics};
  const optimizers::Optimizer& optimizer = *options.optimizer;
  auto step = function_of_batch(
      [&](const std::vector<Tensor>& batch) {
        GradientTape tape;
        const Tensor found = forward(batch[0]);
        const Tensor loss = loss_of(account.loss, batch, found);
        const Tensor scaled = optimizer.scale_loss(loss);
        const std::vector<Variable> trained = model.parameters();
        optimizer.apply(tape.gradient(scaled, trained), trained);
        account.add(loss, batch, found);
        return loss;
      },
      {.name = "step", .memory_budget = options.memory_budget});
  Evaluator evaluator(model, forward, *options.loss, options.metrics);
  const Progress progress(options.out, options.epochs);

  model.train();
  Run run{model, options.optimizer, 0, 0, {}, false};
  History history;
  for (int64_t epoch = 0; epoch < options.epochs && !run.stops; ++epoch) {
    account.reset();
    int64_t done = 0;
    for (data::Element& batch : batches) {
      check_element(batch);
      if (run.step == 0) {
        build_model(forward, batch[0]);
        print_plan(step, batch, progress);
        tell(options.callbacks, &Callback::on_train_begin, run);
      }
      if (done == 0) progress.begin(epoch, batches.cardinality());
      run_step(step, batch);
      ++run.step;
      progress.advance(++done, [&](Logs& logs) { account.write(logs, ""); });
      tell(options.callbacks, &Callback::on_step_end, run);
    }
    if (done == 0) fail("[fit] the pipeline has no elements");
    run.epoch = epoch;
    run.logs.clear();
    account.write(run.logs, "");
    if (options.validation) evaluator.run(*options.validation, run.logs, "val_");
    progress.end(done, run.logs);
    history.push_back(run.logs);
    tell(options.callbacks, &Callback::on_epoch_end, run);
  }
  tell(options.callbacks, &Callback::on_train_end, run);
  return history;
}

Logs evaluate(const nn::Module& model, const Forward& forward, const data::Pipeline& batches,
              const EvaluateOptions& options, const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  if (!options.loss) fail("[evaluate] `loss` is missing");
  const NoHandlers outside;
  Logs logs;
  Evaluator(model, forward, *options.loss, options.metrics).run(batches, logs, "");
  return logs;
}

}  // namespace detail

}  // namespace tidemark::train
