// Lists of tensors of one shape: TensorList…, and TensorFlow 1's TensorArray, whose flow is the
// list.
#include <tidemark/call.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>

#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

namespace {

/// The element shape that an input says; unknown where it says nothing.
Shape element_at(const NodeCall& c, size_t i) {
  const Ints sizes = c.known(i);
  if (c.in(i).rank() == 0) return Shape::unknown();
  for (int64_t size : sizes) {
    if (size < kUnknownDim) c.fail("an element shape has the size ", size);
  }
  if (sizes.size() > size_t{Shape::kMaxRank}) c.fail("an element shape of too many dimensions");
  return Shape(sizes);
}

Shape better(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  return a.is_fully_known() || !b.has_rank() ? a : b.is_fully_known() ? b : a;
}

Array array_of(const Value& list, const Shape& element, bool grows = false) {
  const Array made(list.tensor.dtype(), Tensor(int32_t{0}),
                   {.dynamic_size = grows, .element_shape = better(element, list.element)});
  return made.with(list.tensor);
}

void give_list(NodeCall& c, Tensor array, const Shape& element) {
  c.outputs.push_back(Value::list_of(std::move(array), element));
}

void read_reserve(NodeCall& c) {
  const Shape element = element_at(c, 0);
  give_list(c, Array(c.dtype("element_dtype"), c.in(1), {.element_shape = element}).tensor(),
            element);
}
void read_empty(NodeCall& c) {
  const Shape element = element_at(c, 0);
  const Array made(c.dtype("element_dtype"), Tensor(int32_t{0}), {.element_shape = element});
  give_list(c, made.tensor(), element);
}
void read_from_tensor(NodeCall& c) { give_list(c, c.in(0), element_at(c, 1)); }
void read_get(NodeCall& c) { c.give(array_of(c.list(0), element_at(c, 2)).read(c.in(1))); }
void read_set(NodeCall& c) {
  const Value& list = c.list(0);
  const Tensor item = c.in(2);
  const bool grows = c.flag("resize_if_index_out_of_bounds");
  const Array next = array_of(list, item.shape(), grows).write(c.in(1), item);
  give_list(c, next.tensor(), better(list.element, item.shape()));
}
void read_stack(NodeCall& c) { c.give(array_of(c.list(0), element_at(c, 1)).stack()); }
void read_length(NodeCall& c) {
  c.give(call("gather", {call("shape", {c.list(0).tensor}), Tensor(int32_t{0})}));
}
void read_push(NodeCall& c) {
  const Value& list = c.list(0);
  const Tensor item = c.in(1);
  const Array array = array_of(list, item.shape(), true);
  give_list(c, array.write(array.size(), item).tensor(), better(list.element, item.shape()));
}
void read_element_shape(NodeCall& c) {
  const Shape& element = c.list(0).element;
  if (!element.is_fully_known()) c.fail_unsupported("the shape of the elements is not known");
  const Ints sizes(element.begin(), element.end());
  const Tensor wide = Tensor::of(std::span<const int64_t>(sizes), Shape{element.rank()});
  c.give(call("cast", {wide}, {{"dtype", c.dtype("shape_type")}}));
}

// --- TensorFlow 1 --------------------------------------------------------------------------------

void read_array(NodeCall& c) {
  const Shape element = c.shape("element_shape");
  c.outputs.emplace_back();  // the handle; the flow is the array
  give_list(c, Array(c.dtype("dtype"), c.in(0), {.element_shape = element}).tensor(), element);
}
void read_array_write(NodeCall& c) {
  const Value& list = c.list(3);
  const Tensor item = c.in(2);
  give_list(c, array_of(list, item.shape()).write(c.in(1), item).tensor(),
            better(list.element, item.shape()));
}
void read_array_read(NodeCall& c) { c.give(array_of(c.list(2), Shape::unknown()).read(c.in(1))); }
void read_array_scatter(NodeCall& c) {
  c.list(3);
  // All elements of the array, in the order that the indices say.
  const Tensor rows =
      call("gather", {c.in(2), call("invert_permutation", {c.in(1)})}, {{"axis", 0}});
  Shape element = rows.shape();
  if (element.has_rank() && element.rank() > 0) element.erase(0);
  give_list(c, rows, element);
}
void read_array_gather(NodeCall& c) {
  c.give(call("gather", {array_of(c.list(2), c.shape("element_shape")).stack(), c.in(1)},
              {{"axis", 0}}));
}
void read_array_size(NodeCall& c) {
  c.give(call("gather", {call("shape", {c.list(1).tensor}), Tensor(int32_t{0})}));
}

constexpr NamedReader kReaders[] = {
    {"TensorListReserve", read_reserve},
    {"EmptyTensorList", read_empty},
    {"TensorListFromTensor", read_from_tensor},
    {"TensorListGetItem", read_get},
    {"TensorListSetItem", read_set},
    {"TensorListStack", read_stack},
    {"TensorListLength", read_length},
    {"TensorListPushBack", read_push},
    {"TensorListElementShape", read_element_shape},
    {"TensorArrayV3", read_array},
    {"TensorArrayWriteV3", read_array_write},
    {"TensorArrayReadV3", read_array_read},
    {"TensorArrayScatterV3", read_array_scatter},
    {"TensorArrayGatherV3", read_array_gather},
    {"TensorArraySizeV3", read_array_size},
};

}  // namespace

std::span<const NamedReader> list_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
