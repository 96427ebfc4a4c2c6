// A program with a model server in it: the model is a C++ function of this program.
//
//   build/example_server [PORT]          until a line, or the end, of the standard input
//   curl -d '{"instances": [[1, 2, 3, 4]]}' localhost:PORT/v1/models/scores:predict
#include <tidemark/nn.h>
#include <tidemark/serve.h>
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main(int argc, char** argv) try {
  td::random::set_seed(1);
  const td::nn::Sequential model{td::nn::Dense(8, {.activation = "relu"}), td::nn::Dense(3),
                                 [](const td::Tensor& x) { return td::softmax(x); }};
  td::Variable calls(td::Tensor(int64_t{0}));
  const auto scores = [&](const td::Tensor& x) {
    calls.assign_add(td::Tensor(int64_t{1}));
    return std::pair(model(x), calls.value());
  };
  td::ModelServer server({.port = argc > 1 ? std::atoi(argv[1]) : 0});
  server.add("scores", td::make_model({
                           td::signature(scores, {{"x", td::DType::float32, {-1, 4}}},
                                         {.name = "counted", .outputs = {"scores", "calls"}}),
                           td::signature(model, {{"x", td::DType::float32, {-1, 4}}}),
                       }));
  server.start();
  std::cout << "scores on port " << server.port() << std::endl;
  std::cin.get();
  server.stop();
  std::cout << calls.value().item<int64_t>() << " counted calls\n" << td::memory::report();
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 2;
}
