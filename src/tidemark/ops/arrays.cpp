// Arrays of tensors: what tf.TensorArray and lists grown in loops are while a graph runs.
//
// The array is one tensor, its elements along the first axis. While the shape of the elements is
// not known yet it is [n, 0]: blank. An array that dies with the call is written in place, so that
// a loop that fills one costs a row each round; one that grows does so where it lies.
#include <tidemark/call.h>
#include <tidemark/op.h>

#include <algorithm>

#include "tidemark/ops/arrays.h"
#include "tidemark/ops/movement.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark {

using namespace movement;

namespace {

Shape with_rows(int64_t rows, const Shape& element) {
  if (!element.has_rank()) return Shape::unknown();
  Shape out{rows};
  for (int64_t size : element) out.push_back(size);
  return out;
}

Shape element_of(const Shape& array) {
  Shape out = array;
  out.erase(0);
  return out;
}

bool is_element(const Shape& shape, const Shape& array) {
  return shape.rank() + 1 == array.rank() &&
         std::equal(shape.begin(), shape.end(), array.begin() + 1);
}

/// The announced shape of an element, where there is one; -1 stands for an unknown size.
Shape announced(const InferContext& c) {
  const Attr& attr = c.attr("element_shape");
  return attr.is_none() ? Shape::unknown() : Shape(attr.as_ints());
}

bool fits(const Shape& element, const Shape& declared) {
  if (!declared.has_rank()) return true;
  if (element.rank() != declared.rank()) return false;
  for (int i = 0; i < element.rank(); ++i) {
    if (declared[i] >= 0 && element[i] != declared[i]) return false;
  }
  return true;
}

void check_array(const InferContext& c) {
  if (c.shape(0).rank() < 1) c.fail("an array has at least one axis, the given one is a scalar");
}

/// In a graph being built the array's own shape says little: the declared one holds.
Shape element_in_graph(const InferContext& c) {
  const Shape declared = announced(c);
  if (declared.has_rank()) return declared;
  return arrays::is_blank(c.shape(0)) ? Shape::unknown() : element_of(c.shape(0));
}

/// The shape of the elements of an array that holds values; throws where it is not the declared.
Shape element_now(const InferContext& c) {
  const Shape declared = announced(c);
  const Shape element = element_of(c.shape(0));
  if (fits(element, declared)) return element;
  if (arrays::is_blank(c.shape(0)) && declared.is_fully_known()) return declared;
  c.fail("the elements of the array have shape ", element, ", but ", declared, " was announced");
}

void write_rule(InferContext& c) {
  check_array(c);
  const Shape& array = c.shape(0);
  const bool grows = c.attr("dynamic_size").as_bool();
  if (!holds_values(c.input(0)) || !holds_values(c.input(1))) {
    return c.set(0, with_rows(grows ? kUnknownDim : array[0], c.shape(2)));
  }
  const int64_t index = arrays::index_of(c.input(1), c.op_name());
  if (index < 0 || (index >= array[0] && !grows)) {
    c.fail("Trying to modify element ", index, " in a list with ", array[0], " elements.");
  }
  if (!arrays::is_blank(array) && !is_element(c.shape(2), array)) {
    c.fail("the elements of the array have shape ", element_of(array), ", one of shape ",
           c.shape(2), " was given; elements of an array in a graph have one shape");
  }
  c.set(0, with_rows(std::max(array[0], index + 1), c.shape(2)));
  if (c.dtype(0) != DType::string) return;
  c.set_string_bytes(0, characters_of(c.input(0)) + characters_of(c.input(2)));
}

void write_gradient(Grad& g) {
  const std::vector<Tensor> cut = arrays::write_gradient(g.shape(0), g.x(1), g.dy(), false);
  g.dx(0) = cut[0];
  g.dx(2) = cut[1];
}

void read_rule(InferContext& c) {
  check_array(c);
  if (!holds_values(c.input(0)) || !holds_values(c.input(1))) {
    return c.set(0, element_in_graph(c));
  }
  const int64_t index = arrays::index_of(c.input(1), c.op_name());
  const int64_t rows = c.shape(0)[0];
  if (index < 0 || index >= rows) {
    c.fail("Trying to access element ", index, " in a list with ", rows, " elements.");
  }
  const Shape element = element_now(c);
  c.set(0, element);
  if (c.attr("share").as_bool() && !arrays::is_blank(c.shape(0))) {
    return c.alias(0, 0, index * element.num_elements());
  }
  c.set_string_bytes(0, characters_of(c.input(0)));
}

void cut_rule(InferContext& c) {
  check_array(c);
  const int64_t rows = c.attr("rows").as_int();
  const int64_t given = c.shape(0)[0];
  if (rows < 0 || (given >= 0 && rows > given)) {
    c.fail("'rows' must be in [0, ", given, "], the array's own; given ", rows);
  }
  const Shape element = element_of(c.shape(0));
  c.set(0, with_rows(rows, element));
  c.set(1, element);
  if (!holds_values(c.input(1))) return;
  const int64_t index = arrays::index_of(c.input(1), c.op_name());
  if (index < 0 || index >= given) {
    c.fail("Trying to access element ", index, " in a list with ", given, " elements.");
  }
}

void cut_gradient(Grad& g) {
  const int64_t rows = g.attr("rows").as_int();
  Tensor whole = rows > 0 ? dy_or_zeros(g, 0) : Tensor();
  if (rows < g.shape(0)[0]) {
    const Shape element = element_of(g.shape(0));
    if (!whole) whole = dy_or_zeros(g, 0);
    whole = call("array_resize", {whole, Tensor(g.shape(0)[0])},
                 {{"element_shape", Ints(element.begin(), element.end())}});
  }
  g.dx(0) = call("array_write", {whole, g.x(1), dy_or_zeros(g, 1)});
}

void resize_rule(InferContext& c) {
  check_array(c);
  const Shape& array = c.shape(0);
  const bool is_wanted_known = holds_values(c.input(1));
  const int64_t wanted = is_wanted_known ? arrays::index_of(c.input(1), c.op_name()) : kUnknownDim;
  if (!is_wanted_known || !holds_values(c.input(0))) {
    const int64_t kept = is_wanted_known ? array[0] : kUnknownDim;
    return c.set(0, with_rows(wanted < 0 ? kept : wanted, element_in_graph(c)));
  }
  const int64_t rows = wanted < 0 ? array[0] : wanted;
  const Shape element = element_now(c);
  c.set(0, with_rows(rows, element));
  if (rows <= array[0] && element == element_of(array)) return c.alias(0, 0);
  c.set_string_bytes(0, characters_of(c.input(0)));
}

void resize_gradient(Grad& g) {
  const Shape& array = g.shape(0);
  if (arrays::is_blank(array)) return;
  g.dx(0) = call("array_resize", {g.dy(), Tensor(array[0])});
}

}  // namespace

bool arrays::is_resizing(const OpDef& op) {
  static const OpDef* const ops[] = {OpRegistry::instance().find("array_write"),
                                     OpRegistry::instance().find("array_cut"),
                                     OpRegistry::instance().find("array_resize")};
  return &op == ops[0] || &op == ops[1] || &op == ops[2];
}

std::vector<Tensor> arrays::write_gradient(const Shape& array, const Tensor& index,
                                           const Tensor& dy, bool gives_up_dy) {
  static const OpDef& op = OpRegistry::instance().get("array_cut");
  const int64_t rows = is_blank(array) ? 0 : array[0];
  std::vector<Tensor> cut(2);
  const Attr attrs[] = {Attr(rows)};
  const Borrowed<2> inputs(dy, index);
  dispatch({op, inputs.span(), attrs, gives_up_dy ? 1u : 0u}, cut);
  if (rows == 0) cut[0] = Tensor();
  return cut;
}

TIDEMARK_OP(array_write)
    .doc("The array with `value` as its element `index`; longer, with zeros between, if it may be.")
    .input("array", kAny)
    .input("index", kIndex, 'I')
    .input("value", kAny)
    .attr("dynamic_size", AttrKind::boolean, false)
    .output("output", like("array"))
    .shape(write_rule)
    .on_host(1)
    .in_place(0)
    .gradient(write_gradient, keep_x(1));

TIDEMARK_OP(array_read)
    .doc(
        "Element `index` of the array. `share`: a view, for arrays that are not written while it "
        "lives.")
    .input("array", kAny)
    .input("index", kIndex, 'I')
    .optional_attr("element_shape", AttrKind::ints)
    .attr("share", AttrKind::boolean, false)
    .output("output", like("array"))
    .shape(read_rule)
    .on_host(1)
    .gradient(
        [](Grad& g) {
          const Tensor row = call("expand_dims", {g.dy()}, {{"axis", 0}});
          const Tensor index = call("reshape", {g.x(1), Tensor::of<int64_t>({1})});
          if (arrays::is_blank(g.shape(0))) return;
          g.dx(0) = call("gather_grad", {index, row, shape_tensor(g, 0)}, {{"axis", 0}});
        },
        keep_x(1));

TIDEMARK_OP(array_cut)
    .doc(
        "The first `rows` elements of the array, zeros in place of element `index`, and that "
        "element: what the gradient of array_write is made of.")
    .input("array", kNumeric)
    .input("index", kIndex, 'I')
    .attr("rows", AttrKind::integer)
    .output("rest", like("array"))
    .output("element", like("array"))
    .shape(cut_rule)
    .on_host(1)
    .in_place(0)
    .gradient(cut_gradient, keep_x(1));

TIDEMARK_OP(array_resize)
    .doc(
        "The first `rows` elements of the array, zeros after the last; all of them for a negative "
        "number. Elements that were never written become zeros of `element_shape`.")
    .input("array", kAny)
    .input("rows", kIndex, 'I')
    .optional_attr("element_shape", AttrKind::ints)
    .output("output", like("array"))
    .shape(resize_rule)
    .on_host(1)
    .in_place(0)
    .gradient(resize_gradient);

}  // namespace tidemark
