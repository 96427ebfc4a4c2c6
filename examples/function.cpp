// A training step as a function: traced on the first call, then run as a graph, for any batch size.
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main() {
  td::Variable slope(td::Tensor(0.f), {.name = "slope"});
  td::Variable offset(td::Tensor(0.f), {.name = "offset"});
  auto step = td::function(
      [&](td::Tensor x, td::Tensor y) {
        td::GradientTape tape({.persistent = true});
        const td::Tensor loss = td::mean(td::square(x * slope + offset - y));
        const td::Tensor by_slope = tape.gradient(loss, slope);
        const td::Tensor by_offset = tape.gradient(loss, offset);
        slope.assign_sub(by_slope * 0.1f);
        offset.assign_sub(by_offset * 0.1f);
        return loss;
      },
      "step");
  for (int i = 0; i < 300; ++i) {
    const td::Tensor x = td::random::uniform({8 + i % 5}, -1.0, 1.0);
    step(x, x * 3.f + 0.5f);
  }
  std::cout << "slope " << slope.value() << ", offset " << offset.value() << "\n";
  for (const td::TraceInfo& trace : step.traces()) std::cout << trace << "\n";
  std::cout << step.graph(td::zeros({8}), td::zeros({8})).to_string();
}
