// A training step as a function: traced on the first call, then run as a graph, for any batch size.
#include <tidemark/tidemark.h>

#include <iostream>

int main() {
  namespace tm = tidemark;
  tm::Variable slope(tm::Tensor(0.f), {.name = "slope"});
  tm::Variable offset(tm::Tensor(0.f), {.name = "offset"});
  auto step = tm::function(
      [&](tm::Tensor x, tm::Tensor y) {
        tm::GradientTape tape({.persistent = true});
        const tm::Tensor loss = tm::mean(tm::square(x * slope + offset - y));
        const tm::Tensor by_slope = tape.gradient(loss, slope);
        const tm::Tensor by_offset = tape.gradient(loss, offset);
        slope.assign_sub(by_slope * 0.1f);
        offset.assign_sub(by_offset * 0.1f);
        return loss;
      },
      "step");
  for (int i = 0; i < 300; ++i) {
    const tm::Tensor x = tm::random::uniform({8 + i % 5}, -1.0, 1.0);
    step(x, x * 3.f + 0.5f);
  }
  std::cout << "slope " << slope.value() << ", offset " << offset.value() << "\n";
  for (const tm::TraceInfo& trace : step.traces()) std::cout << trace << "\n";
  std::cout << step.graph(tm::zeros({8}), tm::zeros({8})).to_string();
}
