#include <tidemark/shape.h>

#include <algorithm>

namespace tidemark {

Shape::Shape(std::span<const int64_t> dims) : heap_(nullptr), rank_(0) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    fail("a shape has at most ", kMaxRank, " dimensions; ", dims.size(), " were given");
  }
  if (dims.size() > kInline) heap_ = new int64_t[dims.size()];
  rank_ = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), data());
}

Shape Shape::filled(int rank, int64_t size) {
  Shape s;
  for (int i = 0; i < rank; ++i) s.push_back(size);
  return s;
}

void Shape::copy_slow(const Shape& other) {
  int64_t* fresh = other.rank_ > kInline ? new int64_t[other.rank_] : nullptr;
  release();
  rank_ = other.rank_;
  if (fresh) heap_ = fresh;
  std::copy(other.begin(), other.end(), data());
}

bool Shape::is_fully_known() const noexcept {
  return !unknown_rank_ && std::all_of(begin(), end(), [](int64_t d) { return d >= 0; });
}

int64_t Shape::num_elements() const {
  if (unknown_rank_) fail("the number of elements of a shape of unknown rank is not known");
  int64_t count = 1;
  bool empty = false;
  bool overflow = false;
  for (int64_t dim : *this) {
    if (dim < 0) fail("dimensions must not be negative or unknown here; given ", to_string());
    empty |= dim == 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (empty) return 0;
  if (overflow) fail("shape ", to_string(), " has more than 2^63 - 1 elements");
  return count;
}

void Shape::push_back(int64_t dim) { insert(rank_, dim); }

void Shape::insert(int position, int64_t dim) {
  if (rank_ == kMaxRank) fail("a shape has at most ", kMaxRank, " dimensions");
  int64_t* target = data();
  if (rank_ >= kInline) {
    target = new int64_t[rank_ + 1];
    std::copy(begin(), begin() + position, target);
  }
  std::copy_backward(begin() + position, end(), target + rank_ + 1);
  target[position] = dim;
  if (target != data()) {
    release();
    heap_ = target;
  }
  ++rank_;
}

void Shape::erase(int position) {
  int64_t kept[kMaxRank];
  const int rank = rank_ - 1;
  std::copy(begin(), begin() + position, kept);
  std::copy(begin() + position + 1, end(), kept + position);
  const bool unknown = unknown_rank_;
  *this = Shape(std::span<const int64_t>(kept, static_cast<size_t>(rank)));
  unknown_rank_ = unknown;
}

std::string Shape::to_string() const {
  if (unknown_rank_) return "<unknown>";
  std::string out = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) out += ", ";
    out += data()[i] == kUnknownDim ? "None" : std::to_string(data()[i]);
  }
  if (rank_ == 1) out += ",";
  return out + ")";
}

std::string Shape::to_brackets() const {
  if (unknown_rank_) return "<unknown>";
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) out += ",";
    out += data()[i] == kUnknownDim ? "?" : std::to_string(data()[i]);
  }
  return out + "]";
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown();
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.rank() ? a.dim(-i) : 1;
    const int64_t y = i <= b.rank() ? b.dim(-i) : 1;
    int64_t& result = out[rank - i];
    if (x == y || y == 1) {
      result = x;
    } else if (x == 1) {
      result = y;
    } else if (x == kUnknownDim || y == kUnknownDim) {
      result = x == kUnknownDim ? y : x;  // the known side is not 1, so it decides
    } else {
      fail("Incompatible shapes: ", a.to_brackets(), " vs. ", b.to_brackets(),
           "; counted from the last, dimension ", i, " has sizes ", x, " and ", y,
           ", and only equal sizes or 1 broadcast");
    }
  }
  return out;
}

int normalize_axis(int64_t axis, int rank, std::string_view what) {
  if (axis < -rank || axis >= rank) {
    fail(what, " must be in [", -rank, ", ", rank, ") for a tensor of rank ", rank, "; given ",
         axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace tidemark
