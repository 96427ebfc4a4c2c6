// Kernels of nonzero, boolean_mask and unique. How many rows they make is counted first: what was
// found on the way stays in the workspace.

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/lines.h"
#include "tidemark/kernels/cuda/radix_sort.h"
#include "tidemark/kernels/row_counts.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "picking.h";
constexpr int64_t kTile = 2048;  // as device/picking.h has it

size_t rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Elements in tiles, of which some are picked.
struct Tiles {
  int64_t count, tiles;
  explicit Tiles(int64_t elements) : count(elements), tiles((elements + kTile - 1) / kTile) {}

  size_t counts_bytes() const {
    return rounded_up(static_cast<size_t>(tiles + 1) * sizeof(int64_t));
  }
  /// Counts, then makes of each count the sum of those before it; the last one is that of all.
  void add_up(CudaStream& stream, const DeviceFunction& counting, void* counts,
              Words arguments) const {
    counting.run_blocks(stream, tiles, std::move(arguments));
    const DeviceFunction add{"sorting.h", "add_counts", {}, "tm::sum_arguments"};
    add.run_blocks(stream, 1, words(counts, tiles + 1));
  }
  /// Where the number of all is told.
  void tell(CudaStream& stream, const void* counts, void* rows) const {
    stream.copy_here(rows, static_cast<const int64_t*>(counts) + tiles, sizeof(int64_t));
  }
};

// --- Masks --------------------------------------------------------------------------------------

/// The workspace: counts, then where the true ones are.
struct Mask : Tiles {
  explicit Mask(const Tensor& mask) : Tiles(mask.num_elements()) {}
  bool is_wide() const { return count >= int64_t{1} << 32; }
  const char* position_type() const { return is_wide() ? "tm::uint64" : "tm::uint32"; }
  size_t position_bytes() const {
    return rounded_up(static_cast<size_t>(count) * (is_wide() ? 8 : 4));
  }
  void* positions(void* workspace) const { return static_cast<char*>(workspace) + counts_bytes(); }
};

template <int kMask>
void count_true(KernelContext& k) {
  const Mask mask(k.input(kMask));
  CudaStream& stream = cuda_stream_of(k);
  if (mask.count == 0) return stream.fill_zeros(k.out<void>(0), sizeof(int64_t));
  const DeviceFunction count{kText, "count_true", {}, "tm::mask_arguments"};
  const void* none = nullptr;
  mask.add_up(stream, count, k.workspace(),
              words(k.in<void>(kMask), k.workspace(), mask.count, mask.tiles, none));
  mask.tell(stream, k.workspace(), k.out<void>(0));
}

size_t nonzero_workspace(const OpCall& call, std::span<const Shape>) {
  return Mask(call.inputs[0]).counts_bytes();
}
void run_nonzero(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  if (k.output(0).num_elements() == 0) return;
  const Mask mask(k.input(0));
  const std::string rank = std::to_string(shape.rank());
  const DeviceFunction find{
      kText, "find_coordinates", {rank}, message("tm::coordinates_arguments<", rank, ">")};
  Words arguments = words(k.in<void>(0), k.workspace(), mask.count, mask.tiles, k.out<void>(0));
  for (const int64_t size : shape.dims()) add_word(arguments, size);
  find.run_blocks(cuda_stream_of(k), mask.tiles, std::move(arguments));
}

size_t boolean_mask_workspace(const OpCall& call, std::span<const Shape>) {
  const Mask mask(call.inputs[1]);
  return mask.counts_bytes() + mask.position_bytes();
}
void run_boolean_mask(KernelContext& k) {
  const Tensor& from = k.input(0);
  const int64_t elements = k.output(0).num_elements();
  if (elements == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const Mask mask(k.input(1));
  void* positions = mask.positions(k.workspace());
  const DeviceFunction find{kText, "find_true", {mask.position_type()}, "tm::mask_arguments"};
  find.run_blocks(stream, mask.tiles,
                  words(k.in<void>(1), k.workspace(), mask.count, mask.tiles, positions));
  const Attr& attr = k.attr("axis");
  const int axis = attr.is_none() ? 0 : normalize_axis(attr.as_int(), from.rank());
  int64_t inner = 1;
  for (int d = axis + k.input(1).rank(); d < from.rank(); ++d) inner *= from.dim(d);
  const DeviceFunction take{kText,
                            "take_picked",
                            {bits_type(size_of(from.dtype())), mask.position_type()},
                            "tm::picked_arguments"};
  take.run(stream, elements,
           words(from.raw_data(), static_cast<const void*>(positions), k.out<void>(0), elements,
                 k.output(0).dim(axis), mask.count, inner));
}

// --- unique -------------------------------------------------------------------------------------

/// As ranks are made of it.
const char* ranked_type(DType dtype) {
  return dtype == DType::bool_ ? "tm::uint8" : stored_type(dtype);
}

/// The workspace: what the sort has, two more numbers an element, a bool an element, and counts of
/// groups.
struct Unique : Tiles {
  explicit Unique(const Tensor& x)
      : Tiles(x.num_elements()), sort(count, static_cast<int>(size_of(x.dtype())) * 8) {}

  size_t number_bytes() const {
    const bool is_wide = std::string_view(sort.key_type()) == "tm::uint64";
    return rounded_up(static_cast<size_t>(count) * (is_wide ? 8 : 4));
  }
  size_t flag_bytes() const { return rounded_up(static_cast<size_t>(count)); }
  size_t bytes() const {
    return rounded_up(sort.workspace()) + 2 * number_bytes() + flag_bytes() + counts_bytes();
  }
  struct Places {
    RadixSort::Place sorted;
    void *groups, *starts, *is_first, *counts;
  };
  Places in(void* workspace) const {
    char* at = static_cast<char*>(workspace) + rounded_up(sort.workspace());
    // Ranks of whole bytes take an even number of passes: they end where they were.
    return {sort.unsorted(workspace), at, at + number_bytes(), at + 2 * number_bytes(),
            at + 2 * number_bytes() + flag_bytes()};
  }

  const RadixSort sort;
};

size_t unique_workspace(const OpCall& call, std::span<const Shape>) {
  return Unique(call.inputs[0]).bytes();
}

Words groups_of(const Unique& u, const Unique::Places& at) {
  return words(at.sorted.keys, at.sorted.order, at.counts, u.count, u.tiles, at.groups, at.starts,
               at.is_first);
}

void count_distinct(KernelContext& k) {
  const Tensor& x = k.input(0);
  const Unique u(x);
  CudaStream& stream = cuda_stream_of(k);
  if (u.count == 0) return stream.fill_zeros(k.out<void>(0), sizeof(int64_t));
  const Unique::Places at = u.in(k.workspace());
  const std::vector<std::string> types = {u.sort.key_type(), ranked_type(x.dtype())};
  const DeviceFunction make_ranks{"sorting.h", "make_ranks", types, "tm::rank_arguments"};
  make_ranks.run(stream, u.count,
                 words(x.raw_data(), at.sorted.keys, at.sorted.order, Lines(x.shape(), 0), false));
  u.sort.run(stream, k.workspace());
  const DeviceFunction count{kText, "count_groups", types, "tm::groups_arguments"};
  u.add_up(stream, count, at.counts, groups_of(u, at));
  u.tell(stream, at.counts, k.out<void>(0));
}

void run_unique(KernelContext& k) {
  const Tensor& x = k.input(0);
  const Unique u(x);
  if (u.count == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const Unique::Places at = u.in(k.workspace());
  const std::string key = u.sort.key_type();
  const DeviceFunction find{
      kText, "find_groups", {key, ranked_type(x.dtype())}, "tm::groups_arguments"};
  find.run_blocks(stream, u.tiles, groups_of(u, at));
  const DeviceFunction count{kText, "count_true", {}, "tm::mask_arguments"};
  const void* none = nullptr;
  u.add_up(stream, count, at.counts, words(at.is_first, at.counts, u.count, u.tiles, none));
  // The ranks are not needed any more.
  const DeviceFunction number{
      kText, "number_first", {key, bits_type(size_of(x.dtype()))}, "tm::distinct_arguments"};
  number.run_blocks(stream, u.tiles,
                    words(at.is_first, at.counts, u.count, u.tiles, x.raw_data(), at.sorted.keys,
                          k.out<void>(0)));
  const DeviceFunction tell{
      kText, "tell_numbers", {key, stored_type(k.output(1).dtype())}, "tm::numbered_arguments"};
  tell.run(stream, u.count,
           words(at.sorted.order, at.groups, at.starts, at.sorted.keys, k.out<void>(1),
                 k.num_outputs() == 3 ? k.out<void>(2) : nullptr, u.count, k.output(0).dim(0)));
}

TIDEMARK_KERNEL_OF(cuda, nonzero, kBool, run_nonzero, nonzero_workspace);
TIDEMARK_KERNEL_OF(cuda, boolean_mask, kPlain, run_boolean_mask, boolean_mask_workspace);
TIDEMARK_KERNEL_OF(cuda, unique, kReal | kBool, run_unique, unique_workspace);
TIDEMARK_KERNEL_OF(cuda, unique_with_counts, kReal | kBool, run_unique, unique_workspace);
const bool rows_are_counted = register_row_count(run_nonzero, count_true<0>) &&
                              register_row_count(run_boolean_mask, count_true<1>) &&
                              register_row_count(run_unique, count_distinct);

}  // namespace

}  // namespace tidemark::cuda
