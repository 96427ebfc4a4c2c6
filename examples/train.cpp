#include <tidemark/tidemark.h>

#include <iostream>

namespace td = tidemark;

int main() {
  const td::Tensor x = td::random::normal({100});
  const td::Tensor y = x * 3.f + 0.5f;
  td::Variable w(td::Tensor(0.f)), b(td::Tensor(0.f));
  for (int step = 0; step < 200; ++step) {
    td::GradientTape tape;
    const td::Tensor loss = td::mean(td::square(w * x + b - y));
    const auto [dw, db] = tape.gradient<2>(loss, {w, b});
    w.assign_sub(dw * 0.3f);
    b.assign_sub(db * 0.3f);
  }
  std::cout << "y = " << w.value() << " x + " << b.value() << "\n";
}
