#include "tidemark/io/tensorflow/objects.h"

#include <cstring>
#include <set>

#include "tidemark/base/wire.h"
#include "tidemark/io/object_graph.h"
#include "tidemark/io/tensorflow/attr_values.h"

namespace tidemark::io::tensorflow {

namespace {

using Kind = Structured::Kind;
constexpr int kDeepest = 32;

template <class Take>
void for_fields(std::string_view bytes, Take take) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) take(field);
  if (!reader.ok()) fail_malformed("the graph of objects");
}

Structured read_structured(std::string_view bytes, int depth);

void read_spec(std::string_view bytes, Structured& out) {
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 1) out.text = field.bytes;
    if (field.number == 2) out.shape = read_shape(field.bytes);
    if (field.number == 3) out.number = static_cast<int64_t>(field.value);
  });
}

void read_items(std::string_view bytes, Structured& out, int depth) {
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 1) out.items.push_back(read_structured(field.bytes, depth));
  });
}

void read_named_items(std::string_view bytes, uint32_t number, Structured& out, int depth) {
  std::map<std::string_view, std::string_view> sorted;
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 1 && number != 1) out.text = field.bytes;
    if (field.number != number) return;
    const auto [name, value] = read_entry(field.bytes);
    if (number == 1) {
      sorted[name] = value;  // a dictionary has its items by name
      return;
    }
    out.names.emplace_back(name);
    out.items.push_back(read_structured(value, depth));
  });
  for (const auto& [name, value] : sorted) {
    out.names.emplace_back(name);
    out.items.push_back(read_structured(value, depth));
  }
}

void read_other(std::string_view bytes, Structured& out) {
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 3) out.text = field.bytes;
  });
}

void take(const WireField& field, Structured& out, int depth) {
  switch (field.number) {
    case 1:
      out.kind = Kind::none;
      break;
    case 11:
      out.kind = Kind::real;
      std::memcpy(&out.real, &field.value, sizeof(double));
      break;
    case 12:  // the sign is the last bit
      out.kind = Kind::number;
      out.number = static_cast<int64_t>(field.value >> 1) ^ -static_cast<int64_t>(field.value & 1);
      break;
    case 13:
      out.kind = Kind::text;
      out.text = field.bytes;
      break;
    case 14:
      out.kind = Kind::boolean;
      out.number = field.value != 0;
      break;
    case 31:
      out.kind = Kind::shape;
      out.shape = read_shape(field.bytes);
      break;
    case 32:
      out.kind = Kind::dtype;
      out.number = static_cast<int64_t>(field.value);
      break;
    case 33:
    case 35:
      out.kind = Kind::spec;
      read_spec(field.bytes, out);
      break;
    case 51:
    case 52:
      out.kind = field.number == 51 ? Kind::list : Kind::tuple;
      read_items(field.bytes, out, depth + 1);
      break;
    case 53:
      out.kind = Kind::dict;
      read_named_items(field.bytes, 1, out, depth + 1);
      break;
    case 54:
      out.kind = Kind::named_tuple;
      read_named_items(field.bytes, 2, out, depth + 1);
      break;
    default:
      out.kind = Kind::other;
      if (field.number == 34) read_other(field.bytes, out);
      break;
  }
}

Structured read_structured(std::string_view bytes, int depth) {
  if (depth > kDeepest) fail_malformed("arguments are nested too deeply");
  Structured out;
  for_fields(bytes, [&](const WireField& field) { take(field, out, depth); });
  return out;
}

void read_function_spec(std::string_view bytes, ObjectGraph::Object& out) {
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 1) out.parameters = read_structured(field.bytes, 0);
    if (field.number == 2) out.is_method = field.value != 0;
  });
}

/// The fields of one kind of object.
void read_kind(const WireField& field, ObjectGraph::Object& out) {
  using Object = ObjectGraph::Kind;
  constexpr Object kKinds[] = {Object::object,
                               Object::asset,
                               Object::function,
                               Object::variable,
                               Object::concrete_function,
                               Object::constant,
                               Object::resource};
  out.kind = field.number == 12 ? Object::captured : kKinds[field.number - 4];
  for_fields(field.bytes, [&](const WireField& part) {
    switch (out.kind) {
      case Object::object:
      case Object::constant:
      case Object::captured:
        if (part.number == 1) out.text = part.bytes;
        break;
      case Object::asset:
        if (part.number == 1) out.number = part.value;
        break;
      case Object::function:
        if (part.number == 1) out.functions.emplace_back(part.bytes);
        if (part.number == 2) read_function_spec(part.bytes, out);
        break;
      case Object::concrete_function:
        if (part.number == 1) out.functions.emplace_back(part.bytes);
        if (part.number == 4) read_function_spec(part.bytes, out);
        if (part.number == 2) out.keywords.emplace_back(part.bytes);
        if (part.number == 3) out.positional = part.value;
        break;
      case Object::variable:
        if (part.number == 1) out.number = part.value;
        if (part.number == 2) out.shape = read_shape(part.bytes);
        if (part.number == 3) out.trainable = part.value != 0;
        if (part.number == 6) out.text = part.bytes;
        break;
      case Object::resource:
        break;
    }
  });
}

std::pair<std::string, int> read_child(std::string_view bytes) {
  std::pair<std::string, int> out;
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 1) out.second = static_cast<int>(field.value & 0x7FFFFFFF);
    if (field.number == 2) out.first = field.bytes;
  });
  return out;
}

ObjectGraph::Object read_object(std::string_view bytes) {
  ObjectGraph::Object out;
  for_fields(bytes, [&](const WireField& field) {
    if (!field.is_bytes()) return;
    if (field.number == 1) out.children.push_back(read_child(field.bytes));
    if ((field.number >= 4 && field.number <= 10) || field.number == 12) read_kind(field, out);
  });
  return out;
}

void find_specs(const Structured& value, std::vector<SpecMessage>& out) {
  if (value.kind == Kind::spec) {
    out.push_back({value.text, static_cast<uint64_t>(value.number), value.shape});
  }
  for (const Structured& item : value.items) find_specs(item, out);
}

ObjectGraph::Function read_concrete(std::string_view bytes) {
  ObjectGraph::Function out;
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 3) out.arguments = read_structured(field.bytes, 0);
    if (field.number == 4) out.results = read_structured(field.bytes, 0);
    if (field.number != 2) return;
    if (!field.is_bytes()) out.bound.push_back(static_cast<int>(field.value & 0x7FFFFFFF));
    std::string_view rest = field.bytes;
    for (uint64_t number = 0; !rest.empty();) {
      if (!take_varint(rest, number)) fail_malformed("the captures of a function");
      out.bound.push_back(static_cast<int>(number & 0x7FFFFFFF));
    }
  });
  find_specs(out.arguments, out.inputs);
  return out;
}

}  // namespace

ObjectGraph read_objects(std::string_view bytes) {
  ObjectGraph out;
  for_fields(bytes, [&](const WireField& field) {
    if (field.number == 1) out.objects.push_back(read_object(field.bytes));
    if (field.number != 2) return;
    const auto [name, function] = read_entry(field.bytes);
    out.functions[std::string(name)] = read_concrete(function);
  });
  const size_t count = out.objects.size();
  const auto check = [&](int number) {
    if (static_cast<size_t>(number) >= count) fail_malformed("an object is missing");
  };
  for (const ObjectGraph::Object& object : out.objects) {
    for (const auto& [name, number] : object.children) check(number);
  }
  for (const auto& [name, function] : out.functions) {
    for (int number : function.bound) check(number);
  }
  return out;
}

std::map<int, std::string> keys_of_variables(const ObjectGraph& objects,
                                             std::string_view checkpoint_objects) {
  const std::vector<ObjectNode> stored = read_object_graph(checkpoint_objects);
  std::map<int, std::string> out;
  if (objects.objects.empty() || stored.empty()) return out;
  std::vector<std::pair<int, size_t>> open{{0, 0}};
  std::set<int> seen{0};
  while (!open.empty()) {
    const auto [number, at] = open.back();
    open.pop_back();
    const ObjectGraph::Object& object = objects.objects[static_cast<size_t>(number)];
    if (object.kind == ObjectGraph::Kind::variable) {
      for (const auto& attribute : stored[at].attributes) {
        if (attribute.name == "VARIABLE_VALUE") out[number] = attribute.key;
      }
    }
    for (const auto& [name, child] : object.children) {
      for (const auto& other : stored[at].children) {
        if (other.name != name || other.node >= stored.size()) continue;
        if (seen.insert(child).second) open.emplace_back(child, other.node);
        break;
      }
    }
  }
  return out;
}

}  // namespace tidemark::io::tensorflow
