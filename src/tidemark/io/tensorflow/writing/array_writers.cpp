// Arrays that loops fill: one tensor, whose elements have no size while nobody knows theirs.
#include <tidemark/create.h>

#include <algorithm>

#include "tidemark/io/tensorflow/writing/node_writer.h"

namespace tidemark::io::tensorflow {

namespace {

using graph::Node;

/// Nodes within the scope of a label; each method gives what it made.
class Pieces {
 public:
  Pieces(NodeWriter& writer, std::string label) : writer_(writer), label_(std::move(label)) {}

  Given make(const char* op, const std::vector<Given>& inputs, DType dtype, GivenAttrs attrs = {}) {
    const std::string name = writer_.fresh(message(label_, "/", op));
    return {writer_.add(name, op, inputs, std::move(attrs)), dtype};
  }
  Given ints(const Ints& values) { return constant(int32_vector(values)); }
  Given constant(const Tensor& value) {
    return {writer_.constant(label_ + "/Const", value), value.dtype()};
  }
  Given zero() { return constant(Tensor(0)); }
  Given sizes(const Given& x) { return make("Shape", {x}, DType::int32); }
  /// A slice of a vector; -1 of them: all that are left.
  Given cut(const Given& x, int64_t begin, int64_t size) {
    return make("Slice", {x, ints({begin}), ints({size})}, x.dtypes[0]);
  }
  Given first_size(const Given& x) { return cut(sizes(x), 0, 1); }
  Given two(const char* op, const Given& a, const Given& b) {
    return make(op, {a, b}, DType::int32);
  }
  Given joined(const std::vector<Given>& parts) {
    Given all(Names{}, std::vector<DType>{});
    for (const Given& part : parts) {
      all.references.push_back(part.references[0]);
      all.dtypes.push_back(part.dtypes[0]);
    }
    return make("ConcatV2", {all, zero()}, DType::int32);
  }
  Given reshaped(const Given& x, const Given& to) { return make("Reshape", {x, to}, x.dtypes[0]); }
  Given narrow(const Given& x) {
    if (x.dtypes[0] == DType::int32) return x;
    return make("Cast", {x}, DType::int32, {{"DstT", type_attr(DType::int32)}});
  }
  /// An index as a vector.
  Given one(const Given& index) { return reshaped(narrow(index), ints({1})); }

  /// The array with so many rows of elements of a shape: zeros where there were none.
  Given fitted(const Given& array, const Given& rows, const Given& element) {
    const Given have = first_size(array);
    const Given width =
        two("FloorDiv", make("Size", {array}, DType::int32), two("Maximum", have, ints({1})));
    const Given wanted =
        make("Prod", {element, zero()}, DType::int32, {{"keep_dims", flag_attr(true)}});
    const Given flat = reshaped(array, joined({have, width}));
    const Given nothing = ints({0});
    const Given more_rows = two("Maximum", two("Sub", rows, have), nothing);
    const Given wider = two("Maximum", two("Sub", wanted, width), nothing);
    const Given pads = reshaped(joined({nothing, more_rows, nothing, wider}), ints({2, 2}));
    const DType dtype = array.dtypes[0];
    const Given empty = constant(dtype == DType::string ? Tensor("") : zeros({}, dtype));
    const Given padded = make("PadV2", {flat, pads, empty}, dtype);
    const Given taken = make("Slice", {padded, ints({0, 0}), joined({rows, wanted})}, dtype);
    return reshaped(taken, joined({rows, element}));
  }
  /// The sizes of an element: as announced, or those of the array's.
  Given element_of(const Node& node, const Given& array) {
    const Attr& announced = attr_of_node(node, "element_shape");
    if (!announced.is_none()) {
      const Ints& all = announced.as_ints();
      if (std::all_of(all.begin(), all.end(), [](int64_t size) { return size >= 0; })) {
        return ints(all);
      }
    }
    return cut(sizes(array), 1, -1);
  }
  /// The output, under the node's own name.
  bool give(const Node& node, const Given& made) {
    writer_.add(label_, "Identity", {made});
    return writer_.give_all(node, label_);
  }

 private:
  NodeWriter& writer_;
  std::string label_;
};

Given input(NodeWriter& writer, const Node& node, const std::string& label, size_t i) {
  return writer.given(node.inputs[i], message(label, "/input_", i));
}

bool array_write(NodeWriter& writer, const Node& node, const std::string& label) {
  Pieces make(writer, label);
  const Given array = input(writer, node, label, 0), value = input(writer, node, label, 2);
  const Given at = make.one(input(writer, node, label, 1));
  Given rows = make.first_size(array);
  if (attr_of_node(node, "dynamic_size").as_bool()) {
    rows = make.two("Maximum", rows, make.two("AddV2", at, make.ints({1})));
  }
  const DType dtype = array.dtypes[0];
  const Given fitted = make.fitted(array, rows, make.sizes(value));
  const Given updates = make.make("ExpandDims", {value, make.zero()}, dtype);
  const Given places = make.reshaped(at, make.ints({1, 1}));
  return make.give(node, make.make("TensorScatterUpdate", {fitted, places, updates}, dtype));
}

bool array_read(NodeWriter& writer, const Node& node, const std::string& label) {
  Pieces make(writer, label);
  const Given array = input(writer, node, label, 0);
  const Given fitted = make.fitted(array, make.first_size(array), make.element_of(node, array));
  const Given at = make.reshaped(make.narrow(input(writer, node, label, 1)), make.ints({}));
  return make.give(node, make.make("GatherV2", {fitted, at, make.zero()}, array.dtypes[0]));
}

bool array_resize(NodeWriter& writer, const Node& node, const std::string& label) {
  Pieces make(writer, label);
  const Given array = input(writer, node, label, 0);
  const Given asked = make.one(input(writer, node, label, 1));
  const Given have = make.first_size(array);
  const Given is_all = make.make("Less", {asked, make.ints({0})}, DType::bool_);
  const Given wanted = make.make("SelectV2", {is_all, have, asked}, DType::int32);
  return make.give(node, make.fitted(array, wanted, make.element_of(node, array)));
}

// op names: those of one array, which TensorFlow has several ops for.
constexpr NamedWriter kComposed[] = {
    {"array_read", array_read},
    {"array_resize", array_resize},
    {"array_write", array_write},
};

}  // namespace

WriteNode find_composed(std::string_view op) {
  for (const NamedWriter& one : kComposed) {
    if (one.op == op) return one.write;
  }
  return nullptr;
}

}  // namespace tidemark::io::tensorflow
