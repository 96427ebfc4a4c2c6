#include "tidemark/kernels/cpu/convolution/convolution_plan.h"

#include <tidemark/error.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/primitive_cache.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kPieceMacs = 1 << 21;  // what makes a piece worth its call
constexpr int64_t kPieces = 16;          // aimed at, so that many cores have work
constexpr int64_t kMaxFilterSums = 64 << 20;
/// Work is stopped between pieces: some fifty milliseconds of one core.
constexpr int64_t kMostPieceMacs = 2'000'000'000;
constexpr int64_t kPixelsForASum = 512;
/// Machine code, descriptions and what the heap loses between them, of one primitive, as measured
/// over many shapes, rounded up.
constexpr int64_t kPrimitiveBytes = 128 << 10;
constexpr int64_t kCacheBytes = 32 << 20;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Fixed for the process: plans, the workspace asked for and the workspace used agree.
int64_t cores() {
  static const int64_t count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

bool same(const TidemarkDnnlConvolution& a, const TidemarkDnnlConvolution& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;  // all members are written, without padding
}
static_assert(sizeof(TidemarkDnnlConvolution) == 2 * sizeof(int32_t) + 25 * sizeof(int64_t));

int64_t pixels(const int64_t* sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/// True iff the gradient of the input is a forward convolution, by the filter turned around.
bool can_turn(const TidemarkDnnlConvolution& c) {
  if (c.kind != 1) return false;
  for (int d = 0; d < 3; ++d) {
    const int64_t reach = (c.kernel[d] - 1) * c.dilation[d];
    if (c.stride[d] != 1 || c.before[d] > reach || c.after[d] > reach) return false;
  }
  return true;
}

int64_t macs_of_image(const TidemarkDnnlConvolution& c) {
  return pixels(c.out) * pixels(c.kernel) * c.out_channels * (c.in_channels / c.groups);
}

}  // namespace

ConvolutionPlan::ConvolutionPlan(const TidemarkDnnlTable& table,
                                 const TidemarkDnnlConvolution& whole)
    : table_(table), whole_(whole) {
  while (row_axis_ < 2 && whole.in[row_axis_] == 1 && whole.out[row_axis_] == 1) ++row_axis_;
  turned_ = can_turn(whole);
  try_to_cut();
  if (!complete_ && turned_) {
    turned_ = false;
    try_to_cut();
  }
  if (complete_) read_layout();
}

void ConvolutionPlan::read_layout() {
  TidemarkDnnlLayout layout;
  if (table_.filter_layout(primitives_[0], &layout) != 0) return;
  const int spatial = layout.rank - (whole_.groups > 1 ? 3 : 2);
  layout_ =
      FilterLayout(layout, turned_ ? spatial : 0, whole_.is_bfloat16 && whole_.kind != 2 ? 2 : 4);
}

void ConvolutionPlan::forget_pieces() {
  for (TidemarkDnnlPrimitive* p : primitives_) table_.destroy(p);
  primitives_.clear();
  shapes_.clear();
  pieces_.clear();
  complete_ = true;
}

void ConvolutionPlan::try_to_cut() {
  forget_pieces();
  cut();
  if (complete_ || pieces_.size() <= 1) return;
  // Some piece was not served: all images in one.
  forget_pieces();
  add_piece(0, whole_.batch, 0, 0);
}

ConvolutionPlan::~ConvolutionPlan() {
  for (TidemarkDnnlPrimitive* p : primitives_) table_.destroy(p);
}

void ConvolutionPlan::cut() {
  const int64_t macs = std::max<int64_t>(1, macs_of_image(whole_));
  int64_t most = kPieces;
  if (whole_.kind == 2) {
    const int64_t bytes =
        4 * pixels(whole_.kernel) * whole_.out_channels * (whole_.in_channels / whole_.groups);
    // Each piece makes a gradient of its own: as many as pay for adding them up, or as cores.
    const int64_t paid = whole_.batch * pixels(whole_.out) / kPixelsForASum;
    most = std::clamp<int64_t>(kMaxFilterSums / std::max<int64_t>(1, bytes), 1,
                               std::min<int64_t>(8, std::max(cores(), paid)));
  }
  int64_t images =
      std::max({int64_t{1}, divide_up(whole_.batch, most), divide_up(kPieceMacs, macs)});
  // Sums of the filter's gradient are cut for what they cost; all else so that it stops soon.
  if (whole_.kind != 2) images = std::min(images, std::max<int64_t>(1, kMostPieceMacs / macs));
  const int64_t rows = (whole_.kind == 1 ? whole_.in : whole_.out)[row_axis_];
  const int64_t slabs =
      std::clamp<int64_t>(std::min(macs / kPieceMacs, most / std::max<int64_t>(1, whole_.batch)), 1,
                          std::max<int64_t>(1, rows / 4));
  if (whole_.batch >= 8 || slabs == 1) {
    for (int64_t i = 0; i < whole_.batch && complete_; i += images) {
      add_piece(i, std::min(images, whole_.batch - i), 0, 0);
    }
    return;
  }
  const int64_t height = divide_up(rows, slabs);
  for (int64_t i = 0; i < whole_.batch; ++i) {
    for (int64_t r = 0; r < rows && complete_; r += height) {
      add_piece(i, 1, r, std::min(rows, r + height));
    }
  }
}

/// Rows [begin, end) of what is written (of the output for the filter's gradient), with the rows of
/// the other side that belong to them; what hangs over becomes padding.
bool ConvolutionPlan::shape_of_rows(int64_t begin, int64_t end, TidemarkDnnlConvolution& part,
                                    Piece& piece) const {
  const int d = row_axis_;
  const int64_t reach = (whole_.kernel[d] - 1) * whole_.dilation[d], stride = whole_.stride[d];
  if (whole_.kind == 1) {
    if (stride > reach + 1) return false;
    const int64_t low = begin + whole_.before[d] - reach;
    const int64_t first = low <= 0 ? 0 : divide_up(low, stride);
    const int64_t last = std::min(whole_.out[d] - 1, (end - 1 + whole_.before[d]) / stride);
    if (last < first) return false;
    part.in[d] = end - begin;
    part.out[d] = last - first + 1;
    part.before[d] = begin - (first * stride - whole_.before[d]);
    part.after[d] = last * stride - whole_.before[d] + reach + 1 - end;
    piece.in_row = begin;
    piece.out_row = first;
    return part.before[d] >= 0;
  }
  const int64_t low = begin * stride - whole_.before[d];
  const int64_t high = (end - 1) * stride - whole_.before[d] + reach + 1;
  const int64_t first = std::max<int64_t>(0, low), last = std::min(whole_.in[d], high);
  if (last <= first) return false;
  part.in[d] = last - first;
  part.out[d] = end - begin;
  part.before[d] = first - low;
  part.after[d] = high - last;
  piece.in_row = first;
  piece.out_row = begin;
  return true;
}

void ConvolutionPlan::add_piece(int64_t image, int64_t images, int64_t begin, int64_t end) {
  Piece piece{image, images, 0, 0, 0};
  TidemarkDnnlConvolution part = whole_;
  part.batch = images;
  if (turned_) part.kind = 3;
  if (end > begin && !shape_of_rows(begin, end, part, piece)) {
    complete_ = false;
    return;
  }
  size_t known = 0;
  while (known < shapes_.size() && !same(shapes_[known], part)) ++known;
  if (known == shapes_.size()) {
    TidemarkDnnlPrimitive* made =
        table_.create_convolution(&part, primitives_.empty() ? nullptr : primitives_[0]);
    if (!made) {
      complete_ = false;
      return;
    }
    shapes_.push_back(part);
    primitives_.push_back(made);
    scratch_ = std::max(scratch_, (table_.scratch_bytes(made) + 63) / 64 * 64);
    filter_bytes_ = table_.filter_bytes(made);
  }
  piece.primitive = static_cast<int>(known);
  pieces_.push_back(piece);
}

static int64_t workers(size_t pieces) { return std::min(cores(), static_cast<int64_t>(pieces)); }

size_t ConvolutionPlan::workspace_bytes() const {
  const size_t filters = whole_.kind == 2 ? pieces_.size() : 1;
  return filter_room() * filters + turning_room() +
         scratch_ * static_cast<size_t>(workers(pieces_.size()));
}

/// Bytes of the filter as it is given, where a copy of it is turned around.
size_t ConvolutionPlan::turning_room() const {
  if (!turned_ || layout_.known() || pixels(whole_.kernel) == 1) return 0;
  const int64_t elements =
      pixels(whole_.kernel) * whole_.out_channels * (whole_.in_channels / whole_.groups);
  return (static_cast<size_t>(elements * (whole_.is_bfloat16 ? 2 : 4)) + 63) / 64 * 64;
}

/// The filter with its spatial dimensions reversed.
const void* ConvolutionPlan::turn(const void* filter, char* room) const {
  if (turning_room() == 0) return filter;
  const int64_t window = pixels(whole_.kernel);
  const int64_t bytes =
      whole_.out_channels * (whole_.in_channels / whole_.groups) * (whole_.is_bfloat16 ? 2 : 4);
  parallel_for(window, std::max<int64_t>(1, (64 << 10) / bytes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(room + (window - 1 - i) * bytes, static_cast<const char*>(filter) + i * bytes,
                  static_cast<size_t>(bytes));
    }
  });
  return room;
}

void ConvolutionPlan::run_piece(const Piece& piece, int64_t index, const void* a, const void* b,
                                const void* c, char* filters, void* scratch) const {
  const int64_t size = whole_.is_bfloat16 ? 2 : 4;
  const auto offset = [&](const int64_t* sizes, int64_t row, int64_t channels) {
    int64_t row_pixels = 1;
    for (int d = row_axis_ + 1; d < 3; ++d) row_pixels *= sizes[d];
    return (piece.first_image * pixels(sizes) + row * row_pixels) * channels * size;
  };
  const char* x = static_cast<const char*>(a) + offset(whole_.in, piece.in_row, whole_.in_channels);
  const char* y =
      static_cast<const char*>(c) + offset(whole_.out, piece.out_row, whole_.out_channels);
  const char* filter = static_cast<const char*>(b);
  if (whole_.kind == 2) filter = filters + static_cast<size_t>(index) * filter_room();
  const int status = table_.run(primitives_[static_cast<size_t>(piece.primitive)], x, filter,
                                const_cast<char*>(y), scratch);
  if (status != 0) fail<InternalError>("[convolution] oneDNN failed with status ", status);
}

/// What a piece has written lies together.
void ConvolutionPlan::finish_piece(const Piece& piece, const Epilogue& epilogue) const {
  const bool forward = whole_.kind == 0;
  const TidemarkDnnlConvolution& part = shapes_[static_cast<size_t>(piece.primitive)];
  const int64_t* sizes = forward ? whole_.out : whole_.in;
  int64_t row_pixels = 1;
  for (int d = row_axis_ + 1; d < 3; ++d) row_pixels *= sizes[d];
  const int64_t row = forward ? piece.out_row : piece.in_row;
  epilogue.apply(piece.first_image * pixels(sizes) + row * row_pixels,
                 piece.images * pixels(forward ? part.out : part.in), 0,
                 forward ? whole_.out_channels : whole_.in_channels);
}

void ConvolutionPlan::add_up_filters(char* filters) const {
  const int64_t count = static_cast<int64_t>(filter_bytes_ / sizeof(float));
  parallel_for(count, 16 << 10, [&](int64_t begin, int64_t end) {
    float* sum = reinterpret_cast<float*>(filters);
    for (size_t p = 1; p < pieces_.size(); ++p) {
      const float* part = reinterpret_cast<const float*>(filters + p * filter_room());
      for (int64_t i = begin; i < end; ++i) sum[i] += part[i];
    }
  });
}

void ConvolutionPlan::run(const void* a, const void* b, const void* c, void* workspace,
                          const Epilogue* epilogue) const {
  char* filters = static_cast<char*>(workspace);
  const int64_t count = static_cast<int64_t>(pieces_.size());
  char* turned =
      filters + filter_room() * (whole_.kind == 2 ? static_cast<size_t>(count) : size_t{1});
  char* scratch = turned + turning_room();
  if (whole_.kind != 2) convert_filter(b, filters, turned);
  std::atomic<int64_t> next{0};
  parallel_for(workers(pieces_.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      void* own = scratch + static_cast<size_t>(worker) * scratch_;
      for (int64_t i = next++; i < count; i = next++) {
        check_interrupt();
        run_piece(pieces_[static_cast<size_t>(i)], i, a, filters, c, filters, own);
        if (epilogue) finish_piece(pieces_[static_cast<size_t>(i)], *epilogue);
      }
    }
  });
  if (whole_.kind == 2) write_filter(filters, const_cast<void*>(b));
}

void ConvolutionPlan::convert_filter(const void* given, char* filter, char* room) const {
  if (layout_.known()) return layout_.into(given, filter);
  if (table_.convert_filter(primitives_[0], turn(given, room), filter) != 0) {
    fail<InternalError>("[convolution] oneDNN failed to convert the filter");
  }
}

/// From the gradients of the pieces.
void ConvolutionPlan::write_filter(char* filters, void* out) const {
  if (layout_.known()) {
    return layout_.sum_out_of(filters, static_cast<int64_t>(pieces_.size()),
                              static_cast<int64_t>(filter_room()), static_cast<float*>(out));
  }
  if (pieces_.size() > 1) add_up_filters(filters);
  if (table_.convert_filter(primitives_[0], filters, out) != 0) {
    fail<InternalError>("[convolution] oneDNN failed to convert the filter");
  }
}

namespace {

struct Hash {
  size_t operator()(const TidemarkDnnlConvolution& c) const {
    int64_t words[sizeof(c) / sizeof(int64_t)];
    std::memcpy(words, &c, sizeof(c));
    uint64_t h = 1;
    for (const int64_t v : words) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h;
  }
};
struct Same {
  bool operator()(const TidemarkDnnlConvolution& a, const TidemarkDnnlConvolution& b) const {
    return same(a, b);
  }
};
using PlanCache = PrimitiveCache<TidemarkDnnlConvolution, ConvolutionPlan, Hash, Same>;

PlanCache& plan_cache() {
  static PlanCache* cache = new PlanCache("convolution primitives", kCacheBytes);
  return *cache;  // never destroyed: pool threads may outlive static objects
}

}  // namespace

std::shared_ptr<const ConvolutionPlan> convolution_plan(const TidemarkDnnlConvolution& wanted) {
  const TidemarkDnnlTable* table = dnnl_table();
  if (!table) return nullptr;
  const auto plan = plan_cache().get(
      wanted, [&] { return std::make_shared<const ConvolutionPlan>(*table, wanted); },
      [](const ConvolutionPlan* made) { return (made->primitives() + 1) * kPrimitiveBytes; });
  return plan->complete() ? plan : nullptr;
}

}  // namespace tidemark::cpu
