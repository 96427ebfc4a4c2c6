// Printing as NumPy prints, which is what TensorFlow shows.
#include <tidemark/tensor.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

namespace tidemark {

namespace {

constexpr int64_t kEdgeItems = 3;
constexpr int64_t kSummarizeAbove = 1000;

std::string shortest(double value, bool single) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  const auto end = single ? std::to_chars(text, text + sizeof(text), static_cast<float>(value))
                          : std::to_chars(text, text + sizeof(text), value);
  std::string out(text, end.ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".";
  return out;
}

std::string element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::float32:
      return shortest(t.data<float>()[i], true);
    case DType::float64:
      return shortest(t.data<double>()[i], false);
    case DType::float16:
      return shortest(static_cast<float>(t.data<Half>()[i]), true);
    case DType::bfloat16:
      return shortest(static_cast<float>(t.data<BFloat16>()[i]), true);
    case DType::bool_:
      return t.data<bool>()[i] ? "True" : "False";
    case DType::int8:
      return std::to_string(t.data<int8_t>()[i]);
    case DType::uint8:
      return std::to_string(t.data<uint8_t>()[i]);
    case DType::int16:
      return std::to_string(t.data<int16_t>()[i]);
    case DType::uint16:
      return std::to_string(t.data<uint16_t>()[i]);
    case DType::int32:
      return std::to_string(t.data<int32_t>()[i]);
    case DType::uint32:
      return std::to_string(t.data<uint32_t>()[i]);
    case DType::int64:
      return std::to_string(t.data<int64_t>()[i]);
    case DType::uint64:
      return std::to_string(t.data<uint64_t>()[i]);
    case DType::complex64: {
      const auto v = t.data<std::complex<float>>()[i];
      return shortest(v.real(), true) + (v.imag() < 0 ? "" : "+") + shortest(v.imag(), true) + "j";
    }
    case DType::complex128: {
      const auto v = t.data<std::complex<double>>()[i];
      return shortest(v.real(), false) + (v.imag() < 0 ? "" : "+") + shortest(v.imag(), false) +
             "j";
    }
    case DType::string:
      return "b'" + std::string(t.string_at(i)) + "'";
    case DType::invalid:
      break;
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Tensor& t) : tensor_(t), summarize_(t.num_elements() > kSummarizeAbove) {
    if (t.num_elements() == 0) return;
    visit(0, 0, [&](int64_t i) { width_ = std::max(width_, element(tensor_, i).size()); });
  }

  std::string text() {
    if (tensor_.rank() == 0) return element(tensor_, 0);
    if (tensor_.num_elements() == 0) return "[]";  // as NumPy, however many rows have nothing
    write(0, 0);
    return out_;
  }

 private:
  int64_t stride(int dim) const {
    int64_t n = 1;
    for (int d = dim + 1; d < tensor_.rank(); ++d) n *= tensor_.dim(d);
    return n;
  }
  bool skips(int dim, int64_t i) const {
    const int64_t size = tensor_.dim(dim);
    return summarize_ && size > 2 * kEdgeItems && i >= kEdgeItems && i < size - kEdgeItems;
  }
  template <class Fn>
  void visit(int dim, int64_t offset, const Fn& fn) {
    if (dim == tensor_.rank()) return fn(offset);
    for (int64_t i = 0; i < tensor_.dim(dim); ++i) {
      if (skips(dim, i)) i = tensor_.dim(dim) - kEdgeItems;
      visit(dim + 1, offset + i * stride(dim), fn);
    }
  }
  void write(int dim, int64_t offset) {
    if (dim == tensor_.rank()) {
      const std::string item = element(tensor_, offset);
      out_.append(width_ - std::min(width_, item.size()), ' ');
      out_ += item;
      return;
    }
    out_ += "[";
    const bool last = dim + 1 == tensor_.rank();
    for (int64_t i = 0; i < tensor_.dim(dim); ++i) {
      if (i > 0) {
        out_ += last ? " "
                     : std::string(static_cast<size_t>(tensor_.rank() - dim - 1), '\n') +
                           std::string(static_cast<size_t>(dim + 1), ' ');
      }
      if (skips(dim, i)) {
        out_ += "...";
        i = tensor_.dim(dim) - kEdgeItems - 1;
        continue;
      }
      write(dim + 1, offset + i * stride(dim));
    }
    out_ += "]";
  }

  const Tensor& tensor_;
  bool summarize_;
  size_t width_ = 0;
  std::string out_;
};

}  // namespace

std::string Tensor::to_string() const {
  if (!impl_) return "<no tensor>";
  if (!impl_->buffer) return "<symbolic>";
  if (!device().is_cpu()) return to(Device()).to_string();
  return Printer(*this).text();
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  if (!t) return out << "<no tensor>";
  return out << "tf.Tensor(" << (t.rank() > 1 ? "\n" : "") << t.to_string()
             << (t.rank() > 1 ? "\n" : "") << ", shape=" << t.shape().to_string()
             << ", dtype=" << name_of(t.dtype()) << ")";
}

}  // namespace tidemark
