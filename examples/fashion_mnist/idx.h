// Reads the files of Fashion-MNIST: those of Debian's package dataset-fashion-mnist, or of the
// folder in FASHION_MNIST.
#pragma once

#include <tidemark/tidemark.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace fashion_mnist {

/// The first `count` items (0: all) of an IDX file: a magic number, the sizes, then bytes.
inline tidemark::Tensor read_idx(const std::string& path, int rank, int64_t count) {
  const auto close = [](gzFile f) { gzclose(f); };
  const std::unique_ptr<gzFile_s, decltype(close)> file(gzopen(path.c_str(), "rb"), close);
  if (!file) throw std::runtime_error(path + " cannot be opened; install dataset-fashion-mnist");
  const auto number = [&] {
    unsigned char b[4];
    if (gzread(file.get(), b, 4) != 4) throw std::runtime_error(path + " ends too early");
    return int64_t(b[0]) << 24 | b[1] << 16 | b[2] << 8 | b[3];
  };
  if (number() != 0x800 + rank) throw std::runtime_error(path + " is no IDX file of such bytes");
  tidemark::Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(number());
  shape[0] = count > 0 ? std::min(count, shape[0]) : shape[0];
  std::vector<uint8_t> values(static_cast<size_t>(shape.num_elements()));
  const auto bytes = static_cast<unsigned>(values.size());
  if (gzread(file.get(), values.data(), bytes) != static_cast<int>(bytes))
    throw std::runtime_error(path + " ends too early");
  return tidemark::Tensor::of(std::span<const uint8_t>(values), shape);
}

/// Pictures [n, 28, 28, 1] and labels [n], as uint8; `part` is "train" or "t10k".
inline std::vector<tidemark::Tensor> read(const std::string& part, int64_t count) {
  const char* given = std::getenv("FASHION_MNIST");
  const std::string start =
      std::string(given ? given : "/usr/share/datasets/fashion-mnist") + "/" + part;
  const tidemark::Tensor pictures = read_idx(start + "-images-idx3-ubyte.gz", 3, count);
  return {pictures.reshaped({pictures.dim(0), 28, 28, 1}),
          read_idx(start + "-labels-idx1-ubyte.gz", 1, count)};
}

}  // namespace fashion_mnist
