#include "tidemark/io/object_graph.h"

#include "tidemark/base/wire.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/input_file.h"

namespace tidemark::io {

namespace {

enum GraphField : uint32_t { kNode = 1 };
enum NodeField : uint32_t { kChild = 1, kAttribute = 2, kSlot = 3, kHasValues = 5 };
enum ChildField : uint32_t { kChildNode = 1, kChildName = 2 };
enum AttributeField : uint32_t { kName = 1, kFullName = 2, kKey = 3 };
enum SlotField : uint32_t { kSlotVariable = 1, kSlotName = 2, kSlotNode = 3 };

[[noreturn]] void damaged(std::string_view what) {
  fail<DataLossError>("the objects of a checkpoint are damaged: ", what,
                      ". Restore it from another copy");
}

/// Calls `use` with each field of a message.
template <class Use>
void for_each_field(std::string_view bytes, Use use) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) use(field);
  if (!reader.ok()) damaged("a message is malformed");
}

ObjectNode::Child read_child(std::string_view bytes) {
  ObjectNode::Child child{};
  for_each_field(bytes, [&](const WireField& field) {
    if (field.number == kChildNode && field.is_varint()) child.node = field.value;
    if (field.number == kChildName && field.is_bytes()) child.name = field.bytes;
  });
  return child;
}

ObjectNode::Attribute read_attribute(std::string_view bytes) {
  ObjectNode::Attribute attribute;
  for_each_field(bytes, [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == kName) attribute.name = field.bytes;
    if (field.number == kFullName) attribute.full_name = field.bytes;
    if (field.number == kKey) attribute.key = field.bytes;
  });
  return attribute;
}

ObjectNode::Slot read_slot(std::string_view bytes) {
  ObjectNode::Slot slot{};
  for_each_field(bytes, [&](const WireField& field) {
    if (field.number == kSlotVariable && field.is_varint()) slot.variable = field.value;
    if (field.number == kSlotNode && field.is_varint()) slot.slot = field.value;
    if (field.number == kSlotName && field.is_bytes()) slot.name = field.bytes;
  });
  return slot;
}

ObjectNode read_node(std::string_view bytes) {
  ObjectNode node;
  for_each_field(bytes, [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == kChild) node.children.push_back(read_child(field.bytes));
    if (field.number == kAttribute) node.attributes.push_back(read_attribute(field.bytes));
    if (field.number == kSlot) node.slots.push_back(read_slot(field.bytes));
  });
  return node;
}

/// Whether an object, what it keeps beside variables, or one below it has state.
std::vector<bool> with_values(const std::vector<ObjectNode>& objects) {
  std::vector<std::vector<size_t>> holders(objects.size());
  std::vector<size_t> waiting;
  std::vector<bool> found(objects.size(), false);
  for (size_t i = 0; i < objects.size(); ++i) {
    for (const ObjectNode::Child& child : objects[i].children) holders[child.node].push_back(i);
    for (const ObjectNode::Slot& slot : objects[i].slots) holders[slot.slot].push_back(i);
    if (!objects[i].attributes.empty()) waiting.push_back(i);
  }
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    if (found[at]) continue;
    found[at] = true;
    waiting.insert(waiting.end(), holders[at].begin(), holders[at].end());
  }
  return found;
}

void put_text(BytesSink& to, uint32_t number, std::string_view text) {
  if (!text.empty()) put_bytes_field(to, number, text);
}
void put_number(BytesSink& to, uint32_t number, uint64_t value) {
  if (value != 0) put_varint_field(to, number, value);
}

std::string written(const ObjectNode& node, bool has_values) {
  BytesSink out;
  for (const ObjectNode::Child& child : node.children) {
    BytesSink one;
    put_number(one, kChildNode, child.node);
    put_text(one, kChildName, child.name);
    put_bytes_field(out, kChild, one.bytes);
  }
  for (const ObjectNode::Attribute& attribute : node.attributes) {
    BytesSink one;
    put_text(one, kName, attribute.name);
    put_text(one, kFullName, attribute.full_name);
    put_text(one, kKey, attribute.key);
    put_bytes_field(out, kAttribute, one.bytes);
  }
  for (const ObjectNode::Slot& slot : node.slots) {
    BytesSink one;
    put_number(one, kSlotVariable, slot.variable);
    put_text(one, kSlotName, slot.name);
    put_number(one, kSlotNode, slot.slot);
    put_bytes_field(out, kSlot, one.bytes);
  }
  BytesSink truth;
  put_number(truth, 1, has_values);
  put_bytes_field(out, kHasValues, truth.bytes);
  return std::move(out.bytes);
}

void check_numbers(const std::vector<ObjectNode>& objects) {
  const auto check = [&](uint64_t number) {
    if (number >= objects.size()) damaged("an object is missing");
  };
  for (const ObjectNode& node : objects) {
    for (const ObjectNode::Child& child : node.children) check(child.node);
    for (const ObjectNode::Slot& slot : node.slots) {
      check(slot.variable);
      check(slot.slot);
    }
  }
}

}  // namespace

std::string write_object_graph(const std::vector<ObjectNode>& objects) {
  check_numbers(objects);
  const std::vector<bool> has_values = with_values(objects);
  BytesSink out;
  for (size_t i = 0; i < objects.size(); ++i) {
    put_bytes_field(out, kNode, written(objects[i], has_values[i]));
  }
  return std::move(out.bytes);
}

std::vector<ObjectNode> read_object_graph(std::string_view bytes) {
  std::vector<ObjectNode> objects;
  for_each_field(bytes, [&](const WireField& field) {
    if (field.number == kNode && field.is_bytes()) objects.push_back(read_node(field.bytes));
  });
  if (objects.empty()) damaged("there are none");
  check_numbers(objects);
  return objects;
}

}  // namespace tidemark::io
