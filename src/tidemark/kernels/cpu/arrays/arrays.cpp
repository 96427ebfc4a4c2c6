// Kernels of arrays: rows are copied, moved and cleared as bytes.
#include <tidemark/kernel.h>

#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/arrays.h"

namespace tidemark::cpu {

namespace {

/// Rows of the input that the output starts with. They are there already if it was resized.
int64_t keep_rows(const Tensor& from, const Tensor& to, size_t row_bytes) {
  if (arrays::is_blank(from.shape()) || row_bytes == 0) return 0;
  const int64_t kept = std::min(from.shape()[0], to.shape()[0]);
  if (to.raw_data() != from.raw_data() && kept > 0) {
    copy_bytes(to.mutable_raw_data(), from.raw_data(), kept * static_cast<int64_t>(row_bytes));
  }
  return kept;
}

void clear_rows(const Tensor& t, int64_t begin, int64_t end, size_t row_bytes) {
  if (begin >= end || row_bytes == 0) return;
  zero_bytes(static_cast<char*>(t.mutable_raw_data()) + static_cast<size_t>(begin) * row_bytes,
             (end - begin) * static_cast<int64_t>(row_bytes));
}

size_t row_bytes_of(const Tensor& array) {
  const int64_t rows = array.shape()[0];
  return rows > 0 ? array.nbytes() / static_cast<size_t>(rows) : 0;
}

void array_write(KernelContext& k) {
  const Tensor& out = k.output(0);
  const size_t bytes = k.input(2).nbytes();
  const int64_t rows = out.shape()[0];
  const int64_t index = arrays::place_in(rows, k.input(1), "array_write");
  const int64_t kept = keep_rows(k.input(0), out, bytes);
  clear_rows(out, kept, std::min(index, rows), bytes);
  clear_rows(out, std::max(kept, index + 1), rows, bytes);
  copy_bytes(k.out<char>(0) + static_cast<size_t>(index) * bytes, k.input(2).raw_data(),
             static_cast<int64_t>(bytes));
}

/// Copies elements [from, from + count) of a string tensor to places of the output.
void put_strings(StringWriter& writer, const Tensor& source, int64_t from, int64_t count,
                 int64_t to) {
  for (int64_t i = 0; i < count; ++i) writer.put(to + i, source.string_at(from + i));
}

void put_nothing(StringWriter& writer, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) writer.put(i, {});
}

void array_write_strings(KernelContext& k) {
  const int64_t row = k.input(2).num_elements();
  const int64_t begin = arrays::place_in(k.output(0).shape()[0], k.input(1), "array_write") * row;
  const int64_t all = k.output(0).num_elements();
  const int64_t kept = k.input(0).num_elements();
  StringWriter writer(k, 0);
  put_strings(writer, k.input(0), 0, std::min(kept, begin), 0);
  put_nothing(writer, kept, begin);
  put_strings(writer, k.input(2), 0, row, begin);
  const int64_t after = begin + row;
  if (kept > after) put_strings(writer, k.input(0), after, kept - after, after);
  put_nothing(writer, std::max(kept, after), all);
}

void array_read(KernelContext& k) {
  const Tensor& out = k.output(0);
  const size_t bytes = out.nbytes();
  if (bytes == 0) return;
  if (arrays::is_blank(k.input(0).shape())) {
    zero_bytes(out.mutable_raw_data(), static_cast<int64_t>(bytes));
    return;
  }
  const int64_t index = arrays::place_in(k.input(0).shape()[0], k.input(1), "array_read");
  copy_bytes(out.mutable_raw_data(), k.in<char>(0) + static_cast<size_t>(index) * bytes,
             static_cast<int64_t>(bytes));
}

void array_read_strings(KernelContext& k) {
  StringWriter writer(k, 0);
  const int64_t row = k.output(0).num_elements();
  if (arrays::is_blank(k.input(0).shape())) return put_nothing(writer, 0, row);
  const int64_t index = arrays::place_in(k.input(0).shape()[0], k.input(1), "array_read");
  put_strings(writer, k.input(0), index * row, row, 0);
}

void array_cut(KernelContext& k) {
  const size_t bytes = row_bytes_of(k.input(0));
  if (bytes == 0) return;
  const int64_t index = arrays::place_in(k.input(0).shape()[0], k.input(1), "array_cut");
  copy_bytes(k.out<char>(1), k.in<char>(0) + static_cast<size_t>(index) * bytes,
             static_cast<int64_t>(bytes));
  const Tensor& rest = k.output(0);
  keep_rows(k.input(0), rest, bytes);
  if (index < rest.shape()[0]) clear_rows(rest, index, index + 1, bytes);
}

void array_resize(KernelContext& k) {
  const Tensor& out = k.output(0);
  const size_t bytes = row_bytes_of(out);
  clear_rows(out, keep_rows(k.input(0), out, bytes), out.shape()[0], bytes);
}

void array_resize_strings(KernelContext& k) {
  const int64_t all = k.output(0).num_elements();
  const int64_t kept = std::min(k.input(0).num_elements(), all);
  StringWriter writer(k, 0);
  put_strings(writer, k.input(0), 0, kept, 0);
  put_nothing(writer, kept, all);
}

TIDEMARK_KERNEL_OF(cpu, array_write, kPlain, array_write);
TIDEMARK_KERNEL_OF(cpu, array_write, kString, array_write_strings);
TIDEMARK_KERNEL_OF(cpu, array_read, kPlain, array_read);
TIDEMARK_KERNEL_OF(cpu, array_read, kString, array_read_strings);
TIDEMARK_KERNEL_OF(cpu, array_cut, kNumeric, array_cut);
TIDEMARK_KERNEL_OF(cpu, array_resize, kPlain, array_resize);
TIDEMARK_KERNEL_OF(cpu, array_resize, kString, array_resize_strings);

}  // namespace

}  // namespace tidemark::cpu
