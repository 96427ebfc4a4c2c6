// Random numbers of datasets: Philox 4x32-10 from two seeds, one number of 32 bits after the other,
// as TensorFlow draws them, so that a seed leads to the same order there and here.
#pragma once

#include <array>
#include <cstdint>

namespace tidemark::data {

struct Seeds {
  int64_t first = 0;
  int64_t second = 0;
};

class Draws {
 public:
  explicit Draws(Seeds seeds) : seeds_(seeds) {}

  uint32_t next() {
    const auto place = static_cast<size_t>(drawn_ % 4);
    if (place == 0 || !is_filled_) fill(drawn_ / 4);
    ++drawn_;
    return block_[place];
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(next()) / 4294967296.0; }

  Seeds seeds() const { return seeds_; }
  uint64_t drawn() const { return drawn_; }
  /// Stands where `drawn` numbers have been drawn.
  void move_to(uint64_t drawn) {
    drawn_ = drawn;
    is_filled_ = false;
  }

 private:
  void fill(uint64_t number) {
    const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
    const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
    uint32_t key[2] = {low(static_cast<uint64_t>(seeds_.first)),
                       high(static_cast<uint64_t>(seeds_.first))};
    std::array<uint32_t, 4> c = {low(number), high(number),
                                 low(static_cast<uint64_t>(seeds_.second)),
                                 high(static_cast<uint64_t>(seeds_.second))};
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
      c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    block_ = c;
    is_filled_ = true;
  }

  Seeds seeds_;
  uint64_t drawn_ = 0;
  std::array<uint32_t, 4> block_{};
  bool is_filled_ = false;
};

}  // namespace tidemark::data
