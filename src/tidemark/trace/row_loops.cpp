// The loops of <tidemark/control_flow.h> over the rows of a tensor.
#include <tidemark/call.h>
#include <tidemark/control_flow.h>
#include <tidemark/error.h>

#include "tidemark/memory/context.h"
#include "tidemark/trace/batching.h"
#include "tidemark/trace/builder.h"

namespace tidemark {

namespace {

/// How many rows there are, a scalar int32.
Tensor rows_of(std::string_view name, const Tensor& elems) {
  if (elems.shape().has_rank() && elems.rank() == 0) {
    fail("[", name, "] a scalar has no rows to go over");
  }
  return call("gather", {call("shape", {elems}), Tensor(int32_t{0})});
}

Tensor row(const Tensor& elems, const Tensor& index) { return call("gather", {elems, index}); }

std::function<Tensor(std::span<const Tensor>)> is_below(const Tensor& end) {
  return [end](std::span<const Tensor> v) { return call("less", {v[0], end}); };
}

/// The end of a fold that goes over rows `begin`, `begin + 1`, …, or from the last one down.
Tensor folded(std::string_view name, const FoldFunction& fn, const Tensor& elems,
              const Tensor& initializer, bool from_end) {
  const Tensor count = rows_of(name, elems), one = Tensor(int32_t{1});
  const auto place = [&](const Tensor& i) { return from_end ? count - one - i : i; };
  const Tensor begin = Tensor(initializer ? int32_t{0} : int32_t{1});
  const Tensor first = initializer ? initializer : row(elems, place(Tensor(int32_t{0})));
  const auto body = [&](std::span<const Tensor> v) {
    return std::vector<Tensor>{v[0] + one, fn(v[1], row(elems, place(v[0])))};
  };
  return while_loop(is_below(count), body, {begin, first})[1];
}

}  // namespace

Tensor map_fn(const RowFunction& fn, const Tensor& elems, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor count = rows_of("map_fn", elems);
  const Array made(dtype == DType::invalid ? elems.dtype() : dtype, count);
  const auto body = [&](std::span<const Tensor> v) {
    const Array so_far = made.with(v[1]);
    return std::vector<Tensor>{v[0] + Tensor(int32_t{1}),
                               so_far.write(v[0], fn(row(elems, v[0]))).tensor()};
  };
  const std::vector<Tensor> end =
      while_loop(is_below(count), body, {Tensor(int32_t{0}), made.tensor()},
                 {.shapes = {Shape{}, Shape::unknown()}});
  return made.with(end[1]).stack();
}

Tensor vectorized_map(const RowFunction& fn, const Tensor& elems,
                      const VectorizedMapOptions& options) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Shape& shape = elems.shape();
  if (!shape.has_rank() || shape.rank() == 0) fail("[vectorized_map] there are no rows to go over");
  DType made = DType::invalid;
  try {
    trace::GraphBuilder builder("vectorized");
    const Tensor element = builder.add_input(elems.dtype(), Shape(shape.dims().subspan(1)));
    Tensor output;
    {
      const trace::TraceScope scope(builder);
      output = fn(element);
    }
    made = output.dtype();
    const std::shared_ptr<graph::Graph> graph = builder.finish({&output, 1});
    if (!builder.variables().empty()) throw trace::NoBatchRuleError("variables");
    return trace::run_batched(*graph, {&elems, 1}, builder.captures())[0];
  } catch (const trace::NoBatchRuleError& error) {
    if (!options.fallback_to_while_loop) {
      fail("[vectorized_map] ", error.what(),
           " cannot be computed for all elements at once; let it loop with "
           ".fallback_to_while_loop = true, or use map_fn");
    }
  }
  return map_fn(fn, elems, made);
}

Tensor foldl(const FoldFunction& fn, const Tensor& elems, const Tensor& initializer) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return folded("foldl", fn, elems, initializer, false);
}

Tensor foldr(const FoldFunction& fn, const Tensor& elems, const Tensor& initializer) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return folded("foldr", fn, elems, initializer, true);
}

Tensor scan(const FoldFunction& fn, const Tensor& elems, const Tensor& initializer) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor count = rows_of("scan", elems), zero = Tensor(int32_t{0});
  const Tensor first = initializer ? initializer : row(elems, zero);
  const Array empty(first.dtype(), count);
  const Array made = initializer ? empty : empty.write(zero, first);
  const auto body = [&](std::span<const Tensor> v) {
    const Tensor next = fn(v[1], row(elems, v[0]));
    return std::vector<Tensor>{v[0] + Tensor(int32_t{1}), next,
                               made.with(v[2]).write(v[0], next).tensor()};
  };
  const Tensor begin = Tensor(initializer ? int32_t{0} : int32_t{1});
  const std::vector<Tensor> end =
      while_loop(is_below(count), body, {begin, first, made.tensor()},
                 {.shapes = {Shape{}, first.shape(), Shape::unknown()}});
  return made.with(end[2]).stack();
}

}  // namespace tidemark
