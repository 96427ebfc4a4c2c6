#include <tidemark/tidemark.h>

#include <iostream>

int main() {
  namespace tm = tidemark;
  const tm::Tensor x = tm::random::normal({100});
  const tm::Tensor y = x * 3.f + 0.5f;
  tm::Variable w(tm::Tensor(0.f)), b(tm::Tensor(0.f));
  for (int step = 0; step < 200; ++step) {
    tm::GradientTape tape;
    const tm::Tensor loss = tm::mean(tm::square(w * x + b - y));
    const auto [dw, db] = tape.gradient<2>(loss, {w, b});
    w.assign_sub(dw * 0.3f);
    b.assign_sub(db * 0.3f);
  }
  std::cout << "y = " << w.value() << " x + " << b.value() << "\n";
}
