// Constants, copies and choices.

#include <tidemark/rows.h>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/movement.h"
#include "tidemark/ops/strings.h"

namespace tidemark {

namespace {

void fill_shape(InferContext& c) {
  if (c.shape(0).rank() != 1) c.fail("'dims' must be a vector; given shape ", c.shape(0));
  if (c.shape(1).is_fully_known() && c.shape(1).num_elements() != 1) {
    c.fail("'value' must be a scalar; given shape ", c.shape(1));
  }
  if (!movement::holds_values(c.input(0))) return c.set(0, movement::unknown_dims_of(c, 0));
  const Ints dims = c.ints(0);
  for (int64_t d : dims) {
    if (d < 0) c.fail("Dimension ", d, " must be >= 0; given dims ", Shape(dims).to_brackets());
  }
  Shape shape{std::span<const int64_t>(dims)};
  shape.num_elements();  // throws when they do not fit in 63 bits
  c.set(0, std::move(shape));
  if (c.dtype(1) == DType::string) c.set_string_bytes(0, characters(c.input(1), 1));
}

void like_shape(InferContext& c) {
  const Attr& dtype = c.attr("dtype");
  c.set(0, c.shape(0), dtype.is_none() ? c.dtype(0) : dtype.as_dtype());
}

void ones_shape(InferContext& c) {
  like_shape(c);
  if (c.output(0).dtype == DType::string) c.fail("cannot give strings; name a numeric dtype");
}

void select_shape(InferContext& c) {
  Shape shape = broadcast_shapes(c.shape(0), broadcast_shapes(c.shape(1), c.shape(2)));
  if (c.dtype(1) == DType::string) {
    const int64_t count = shape.num_elements();
    c.set_string_bytes(0, characters(c.input(1), count) + characters(c.input(2), count));
  }
  c.set(0, std::move(shape));
}

}  // namespace

TIDEMARK_OP(fill)
    .doc("A tensor of the given sizes, every element the value.")
    .tensorflow("Fill")
    .input("dims", kIndex, 'I')
    .input("value", kAny)
    .output("output", like("value"))
    .shape(fill_shape)
    .on_host(0)
    .repeats(1)
    .rows([](const RowQuestion& q) {
      return q.rows({RowRole::sizes, RowRole::whole});
    })
    .gradient([](Grad& g) { g.dx(1) = g.unbroadcast(g.dy(), 1); });

TIDEMARK_OP(zeros_like)
    .doc("Zeros (false, empty strings) in the shape of the input.")
    .tensorflow("ZerosLike", {}, {}, "zeros_like")
    .input("input", kAny)
    .optional_attr("dtype", AttrKind::dtype)
    .output("output", by_rule())
    .shape(like_shape)
    .each_element()
    .rows(rows::first_input)
    .no_gradient();

TIDEMARK_OP(ones_like)
    .doc("Ones (true) in the shape of the input.")
    .tensorflow("OnesLike", {}, {}, "ones_like")
    .input("input", kAny)
    .optional_attr("dtype", AttrKind::dtype)
    .output("output", by_rule())
    .shape(ones_shape)
    .each_element()
    .rows(rows::first_input)
    .no_gradient();

TIDEMARK_OP(identity)
    .doc("The input itself: the result shares its elements.")
    .python("tf.identity")
    .tensorflow("Identity")
    .onnx("Identity")
    .input("input", kAny)
    .output("output", like("input"))
    .shape([](InferContext& c) {
      c.set(0, c.shape(0));
      c.alias(0, 0);
    })
    .each_element()
    .passes()
    .rows(rows::first_input)
    .gradient([](Grad& g) { g.dx(0) = g.dy(); });

TIDEMARK_OP(stop_gradient)
    .doc("The input itself, through which no gradient flows.")
    .python("tf.stop_gradient")
    .tensorflow("StopGradient")
    .input("input", kAny)
    .output("output", like("input"))
    .shape([](InferContext& c) {
      c.set(0, c.shape(0));
      c.alias(0, 0);
    })
    .each_element()
    .passes()
    .rows(rows::first_input)
    .no_gradient();

TIDEMARK_OP(select)
    .doc("x where the condition holds, else y; all three broadcast together.")
    .tensorflow("SelectV2")
    .onnx("Where")
    .input("condition", kBool, 'C')
    .input("x", kAny)
    .input("y", kAny)
    .output("z", like("x"))
    .elementwise()
    .shape(select_shape)
    .gradient(
        [](Grad& g) {
          g.dx(1) = g.unbroadcast(zero_unless(g.x(0), g.dy()), 1);
          g.dx(2) = g.unbroadcast(zero_if(g.x(0), g.dy()), 2);
        },
        keep_x(0));

}  // namespace tidemark
