// Fourier transforms and numbers drawn from seeds.
#include <tidemark/ops.h>

#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

namespace {

/// The last dimension cut, or filled up with zeros, to so many.
Tensor fitted(const NodeCall& c, const Tensor& x, int64_t wanted) {
  const bool is_known = x.shape().has_rank() && x.rank() > 0 && x.dim(-1) != kUnknownDim;
  if (!is_known) c.fail_unsupported("the length of what is transformed is not known");
  const int64_t have = x.dim(-1);
  if (have == wanted) return x;
  if (have > wanted) return split(x, 2, x.rank() - 1, Ints{wanted, have - wanted})[0];
  std::vector<int32_t> table(2 * static_cast<size_t>(x.rank()), 0);
  table.back() = static_cast<int32_t>(wanted - have);
  const Tensor edges = Tensor::of(std::span<const int32_t>(table), Shape{x.rank(), 2});
  return pad(x, edges, "CONSTANT", cast(Tensor(0.f), x.dtype()));
}

int64_t length_of(const NodeCall& c) {
  const Ints length = c.known(1);
  if (length.size() != 1 || length[0] < 1 || length[0] > (int64_t{1} << 30)) {
    c.fail("its fft_length has to be one number from 1 on");
  }
  return length[0];
}

void read_rfft(NodeCall& c) { c.give(rfft(fitted(c, c.in(0), length_of(c)))); }
void read_irfft(NodeCall& c) {
  const int64_t length = length_of(c);
  c.give(irfft(fitted(c, c.in(0), length / 2 + 1), length));
}
void read_fft(NodeCall& c) { c.give(fft(c.in(0))); }
void read_ifft(NodeCall& c) { c.give(fft(c.in(0), Ints{-1}, true)); }
void read_fft_2d(NodeCall& c) { c.give(fft(c.in(0), Ints{-2, -1})); }
void read_ifft_2d(NodeCall& c) { c.give(fft(c.in(0), Ints{-2, -1}, true)); }

/// Draws take the seed itself here, so that it stands for key and counter.
void read_key_and_counter(NodeCall& c) {
  c.give(c.in(0));
  c.give(c.in(0));
}
void read_uniform(NodeCall& c) {
  c.give(stateless_random_uniform(c.in(0), c.in(1), 0, 1, c.dtype("dtype")));
}
void read_normal(NodeCall& c) {
  c.give(stateless_random_normal(c.in(0), c.in(1), 0, 1, c.dtype("dtype")));
}
void read_truncated_normal(NodeCall& c) {
  c.give(stateless_random_truncated_normal(c.in(0), c.in(1), 0, 1, c.dtype("dtype")));
}
void read_uniform_int(NodeCall& c) {
  c.give(stateless_random_uniform_int(c.in(0), c.in(1), c.in(4), c.in(5)));
}
void read_algorithm(NodeCall& c) { c.give(Tensor(int32_t{1})); }

constexpr NamedReader kReaders[] = {
    {"FFT", read_fft},
    {"IFFT", read_ifft},
    {"FFT2D", read_fft_2d},
    {"IFFT2D", read_ifft_2d},
    {"RFFT", read_rfft},
    {"IRFFT", read_irfft},
    {"StatelessRandomGetAlg", read_algorithm},
    {"StatelessRandomGetKeyCounter", read_key_and_counter},
    {"StatelessRandomUniformV2", read_uniform},
    {"StatelessRandomNormalV2", read_normal},
    {"StatelessTruncatedNormalV2", read_truncated_normal},
    {"StatelessRandomUniformIntV2", read_uniform_int},
};

}  // namespace

std::span<const NamedReader> signal_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
