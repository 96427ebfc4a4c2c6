// A graph and a session in every round of a loop: each goes with its round. The other way, one
// graph that grows in every round, keeps what it was given.
#include <tidemark/session.h>
#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int64_t square_of(int32_t number) {
  const td::Graph graph;
  td::Tensor squares;
  {
    const td::GraphScope building(graph);
    squares = td::square(td::ones({10'000}, td::DType::int32) * number);
  }
  const td::Session session(graph);
  return session.run({squares})[0].to_ints()[0];
}

int main() {
  square_of(1);
  const int64_t before = td::memory::stats().live;
  int64_t sum = 0;
  for (int32_t round = 0; round < 1000; ++round) sum += square_of(round);
  std::cout << "sum " << sum << ", live memory grew by " << td::memory::stats().live - before
            << " bytes in 1000 rounds\n";
  return sum == 332'833'500 && td::memory::stats().live == before ? 0 : 1;
}
