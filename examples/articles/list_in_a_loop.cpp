// Results that a loop gathers: in a list of the graph, not in one of the program. A list of the
// program that a traced function appends to keeps symbolic tensors; this one is stacked and gone.
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main() {
  auto accumulate = td::function([](td::Tensor x, td::Tensor count) {
    const td::Array results(td::DType::float32, count, {.element_shape = x.shape()});
    const std::vector<td::Tensor> end = td::while_loop(
        [&](std::span<const td::Tensor> v) { return td::less(v[0], count); },
        [&](std::span<const td::Tensor> v) {
          const td::Tensor next = x + td::cast(v[0], td::DType::float32);
          return std::vector{v[0] + 1, results.with(v[1]).write(v[0], next).tensor()};
        },
        {0, results.tensor()}, {.shapes = {td::Shape{}, td::Shape::unknown()}});
    return results.with(end[1]).stack();
  });
  const td::Tensor x = td::Tensor::of({1.f, 2.f});
  accumulate(x, 1000);
  const int64_t before = td::memory::stats().live;
  for (int round = 0; round < 100; ++round) accumulate(x, 1000);
  std::cout << "traced " << accumulate.traces().size() << " time(s), live memory grew by "
            << td::memory::stats().live - before << " bytes in 100 rounds\n";
  return td::memory::stats().live == before ? 0 : 1;
}
