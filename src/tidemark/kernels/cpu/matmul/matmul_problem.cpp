#include "tidemark/kernels/cpu/matmul/matmul_problem.h"

#include <algorithm>
#include <thread>

namespace tidemark::cpu {

namespace {

Shape batch_of(const Shape& s) {
  return Shape(std::span<const int64_t>(s.data(), static_cast<size_t>(s.rank() - 2)));
}

MatrixView matrix_of(const Tensor& t, bool transposed, bool adjoint) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  if (transposed || adjoint) return {t.raw_data(), columns, rows, 1, columns, adjoint};
  return {t.raw_data(), rows, columns, columns, 1, false};
}

int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

const Shape& no_batch() {
  static const Shape& shape = *new Shape;
  return shape;
}

}  // namespace

MatmulProblem::MatmulProblem(const OpCall& call)
    : dtype(call.inputs[0].dtype()),
      a(matrix_of(call.inputs[0], call.attrs[0].as_bool(), call.attrs[2].as_bool())),
      b(matrix_of(call.inputs[1], call.attrs[1].as_bool(), call.attrs[3].as_bool())),
      a_shape(&call.inputs[0].shape()),
      b_shape(&call.inputs[1].shape()) {
  m = a.rows;
  k = a.columns;
  n = b.columns;
  a_item = m * k;
  b_item = k * n;
  batch = 1;
  broadcasts = false;
  if (a_shape->rank() == 2 && b_shape->rank() == 2) return;
  batch_shape_ = broadcast_shapes(batch_of(*a_shape), batch_of(*b_shape));
  batch = batch_shape_.num_elements();
  const int64_t b_batch = batch_of(*b_shape).num_elements();
  const int64_t a_batch = batch_of(*a_shape).num_elements();
  broadcasts = a_batch != batch || b_batch != batch;
  if (b_batch == 1 && a_batch == batch && a.column_stride == 1) {
    // One B for all: the items of A are more rows of one matrix.
    m *= batch;
    a.rows = m;
    batch = 1;
    broadcasts = false;
  }
}

MatmulProblem::MatmulProblem(DType type, const MatrixView& left, const MatrixView& right)
    : dtype(type),
      batch(1),
      m(left.rows),
      n(right.columns),
      k(left.columns),
      a(left),
      b(right),
      a_item(m * k),
      b_item(k * n),
      a_shape(&no_batch()),
      b_shape(&no_batch()),
      broadcasts(false) {}

int64_t MatmulProblem::offset(const Shape& shape, int64_t item_elements, int64_t item) const {
  if (!broadcasts) return item * item_elements;
  int64_t index = 0, scale = 1;
  const int missing = batch_shape_.rank() - (shape.rank() - 2);
  for (int d = batch_shape_.rank() - 1; d >= missing; --d) {
    const int64_t size = shape[d - missing];
    if (size != 1) index += item % batch_shape_[d] * scale;
    scale *= size;
    item /= batch_shape_[d];
  }
  return index * item_elements;
}

namespace {

/// Tiles worth making for this much work. Depends on the machine, never on the number of threads in
/// use, as where tiles end may decide last bits.
int64_t tiles_for(int64_t macs) {
  static const int64_t most = 2 * std::max(1u, std::thread::hardware_concurrency());
  int64_t wanted = 1;
  if (macs >= int64_t{200} << 10) wanted = 2;
  if (macs >= int64_t{64} << 20) wanted = 4;
  if (macs >= int64_t{512} << 20) wanted = 8;
  if (macs >= int64_t{4} << 30) wanted = 16;
  if (macs >= int64_t{16} << 30) wanted = 64;
  return std::min(wanted, most);
}

}  // namespace

MatmulTiles::MatmulTiles(const MatmulProblem& p) : rows(p.m), columns(p.n), down(1), across(1) {
  const int64_t wanted = tiles_for(p.macs());
  if (wanted == 1) return;
  // Rows first: the library is at its best on whole rows of B and C.
  down = std::clamp<int64_t>(p.m / 32, 1, wanted);
  rows = round_up(divide_up(p.m, down), 16);
  down = divide_up(p.m, rows);
  across = std::clamp<int64_t>(p.n / 128, 1, wanted / down);
  columns = round_up(divide_up(p.n, across), 64);
  // A run is stopped between tiles: none takes longer than some milliseconds, unless it is so deep
  // that tiles as small as pay are slow.
  constexpr int64_t kMostMacs = int64_t{1} << 30, kManyRows = 256, kManyColumns = 512;
  while (rows * columns * p.k > kMostMacs && (rows > kManyRows || columns > kManyColumns)) {
    if (rows > kManyRows) {
      rows = round_up(divide_up(rows, 2), 16);
    } else {
      columns = round_up(divide_up(columns, 2), 64);
    }
  }
  down = divide_up(p.m, rows);
  across = divide_up(p.n, columns);
}

MatmulTiles::MatmulTiles(const MatmulProblem& p, int64_t most_elements) : MatmulTiles(p) {
  // What goes on with a part is fastest over long stretches of memory: rows stay whole, and there
  // are enough of them for what is read for each part. Only very long rows are cut.
  constexpr int64_t kFewRows = 64, kLongRow = 4096;
  while (rows * columns > most_elements && rows > kFewRows) {
    rows = round_up(divide_up(rows, 2), 16);
  }
  while (rows * columns > most_elements && columns > kLongRow) {
    columns = round_up(divide_up(columns, 2), 64);
  }
  down = divide_up(p.m, rows);
  across = divide_up(p.n, columns);
}

}  // namespace tidemark::cpu
