// Variables, tables, and how a checkpoint and files fill them.
#include <tidemark/call.h>
#include <tidemark/create.h>

#include <algorithm>

#include "tidemark/io/stored_size.h"
#include "tidemark/io/tensorflow/importer.h"

namespace tidemark::io::tensorflow {

namespace {

/// Under which name nodes share a resource.
std::string name_of(const NodeCall& c) {
  const std::string shared = c.text("shared_name", "");
  if (!shared.empty()) return c.text("container", "") + "/" + shared;
  return message(c.importer.current_function(), "/", c.node.name);
}

void read_handle(NodeCall& c) {
  const DType dtype = c.dtype("dtype");
  const Shape shape = c.shape("shape");
  c.outputs.push_back(c.importer.resource(name_of(c), [&] {
    return Value::of(c.importer.declare(std::string(c.node.name), dtype, shape));
  }));
}

void read_variable(NodeCall& c) {
  const Variable& variable = c.variable(0);
  if (c.dtype("dtype") != variable.dtype()) c.fail("the variable has another dtype");
  c.give(variable.value());
}

void read_is_initialized(NodeCall& c) {
  c.variable(0);
  c.give(Tensor(true));
}

void read_assign(NodeCall& c) {
  Variable variable = c.variable(0);
  if (c.inputs.size() < 2 || !c.importer.fill_stored(c.inputs[1], variable)) {
    variable.assign(c.in(1));
  }
  c.outputs.push_back(c.inputs[0]);
}
void read_assign_add(NodeCall& c) {
  Variable variable = c.variable(0);
  variable.assign_add(c.in(1));
  c.outputs.push_back(c.inputs[0]);
}
void read_assign_sub(NodeCall& c) {
  Variable variable = c.variable(0);
  variable.assign_sub(c.in(1));
  c.outputs.push_back(c.inputs[0]);
}

void read_resource_gather(NodeCall& c) {
  const int64_t batch = c.number("batch_dims", 0);
  c.give(
      call("gather", {c.variable(0).value(), c.in(1)}, {{"axis", batch}, {"batch_dims", batch}}));
}

std::string constant_text(const NodeCall& c, size_t i, int64_t at) {
  const Tensor text = c.in(i);
  if (text.is_symbolic() || text.dtype() != DType::string || at >= text.num_elements()) {
    c.fail_unsupported("input ", i, " has to be a constant string here");
  }
  return std::string(text.string_at(at));
}

/// The tensors are read when somebody looks at them.
void read_restore(NodeCall& c) {
  const Tensor names = c.in(1);
  for (int64_t i = 0; i < names.num_elements(); ++i) {
    if (!constant_text(c, 2, i).empty()) c.fail_unsupported("a slice of a tensor is restored");
    Value value;
    value.kind = Value::Kind::stored;
    value.key = constant_text(c, 1, i);
    c.outputs.push_back(std::move(value));
  }
}

// --- tables --------------------------------------------------------------------------------------

void read_table(NodeCall& c) {
  const DType key = c.dtype("key_dtype"), value = c.dtype("value_dtype");
  const Shape said = c.shape("value_shape");
  const Shape shape = said.is_fully_known() ? said : Shape{};
  if (!elements_within(shape, size_of(value), uint64_t{1} << 28)) c.fail("its rows are too large");
  c.outputs.push_back(c.importer.resource(
      name_of(c), [&] { return Value::of(HashTable::create(key, value, shape)); }));
}

void read_find(NodeCall& c) {
  c.give(call("table_find", {c.in(1), c.in(2)}, {{"table", c.table(0)->number()}}));
}
void read_size(NodeCall& c) {
  c.give(call_all("table_size", {}, {{"table", c.table(0)->number()}})[0]);
}
void read_insert(NodeCall& c) {
  call("table_insert", {c.in(1), c.in(2)}, {{"table", c.table(0)->number()}, {"overwrite", true}});
  c.outputs.emplace_back();
}
void read_export(NodeCall& c) {
  c.give_all(call_all("table_export", {}, {{"table", c.table(0)->number()}}));
}

/// A column of a line: the whole of it, its number, or a piece of it.
Tensor column(const NodeCall& c, const std::vector<std::string_view>& lines, int64_t index,
              DType dtype, char delimiter) {
  constexpr int64_t kWholeLine = -2, kLineNumber = -1;
  const Shape shape{static_cast<int64_t>(lines.size())};
  if (index == kLineNumber) {
    if (dtype != DType::int64) c.fail("line numbers are int64");
    Tensor out = Tensor::uninitialized(dtype, shape);
    for (size_t i = 0; i < lines.size(); ++i) out.mutable_data<int64_t>()[i] = int64_t(i);
    return out;
  }
  if (index < kWholeLine) c.fail("there is no column ", index);
  std::vector<std::string_view> out;
  for (std::string_view line : lines) {
    for (int64_t skipped = 0; skipped < index; ++skipped) {
      const size_t end = line.find(delimiter);
      if (end == std::string_view::npos) c.fail("a line of the file has no column ", index);
      line.remove_prefix(end + 1);
    }
    out.push_back(index == kWholeLine ? line : line.substr(0, line.find(delimiter)));
  }
  const Tensor texts = Tensor::of_strings(out, shape);
  if (dtype == DType::string) return texts;
  return call("string_to_number", {texts}, {{"out_type", dtype}});
}

/// Only files of the model itself are read.
void read_from_file(NodeCall& c) {
  const auto file = c.importer.read_asset(constant_text(c, 1, 0));
  const std::string_view text = file->bytes();
  const int64_t limit = c.number("vocab_size", -1), skipped = c.number("offset", 0);
  const std::string delimiter = c.text("delimiter", "\t");
  if (delimiter.size() != 1) c.fail("the delimiter is to be one character");
  // Short lines take more than the file: it counts before it is taken.
  const auto count = std::count(text.begin(), text.end(), '\n') + 1;
  const Tensor counted = Tensor::uninitialized(
      DType::uint8, Shape{count * static_cast<int64_t>(2 * sizeof(std::string_view))});
  std::vector<std::string_view> lines;
  lines.reserve(static_cast<size_t>(count));
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('\n');
    lines.push_back(rest.substr(0, end));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  lines.erase(lines.begin(),
              lines.begin() + std::clamp<int64_t>(skipped, 0, int64_t(lines.size())));
  if (limit >= 0 && limit < static_cast<int64_t>(lines.size())) lines.resize(size_t(limit));
  const std::shared_ptr<HashTable>& table = c.table(0);
  const Tensor keys = column(c, lines, c.number("key_index", 0), table->key_dtype(), delimiter[0]);
  const Tensor values =
      column(c, lines, c.number("value_index", 0), table->value_dtype(), delimiter[0]);
  table->check_values(keys, values);
  table->insert(keys, values, true);
  c.outputs.emplace_back();
}

void read_nothing(NodeCall& c) { c.outputs.emplace_back(); }

constexpr NamedReader kReaders[] = {
    {"VarHandleOp", read_handle},
    {"VariableV2", read_handle},
    {"Variable", read_handle},
    {"ReadVariableOp", read_variable},
    {"VarIsInitializedOp", read_is_initialized},
    {"IsVariableInitialized", read_is_initialized},
    {"AssignVariableOp", read_assign},
    {"Assign", read_assign},
    {"AssignAddVariableOp", read_assign_add},
    {"AssignAdd", read_assign_add},
    {"AssignSubVariableOp", read_assign_sub},
    {"AssignSub", read_assign_sub},
    {"ResourceGather", read_resource_gather},
    {"DisableCopyOnRead", read_nothing},
    {"RestoreV2", read_restore},
    {"HashTableV2", read_table},
    {"HashTable", read_table},
    {"MutableHashTableV2", read_table},
    {"MutableHashTableOfTensorsV2", read_table},
    {"LookupTableFindV2", read_find},
    {"LookupTableFind", read_find},
    {"LookupTableSizeV2", read_size},
    {"LookupTableImportV2", read_insert},
    {"LookupTableInsertV2", read_insert},
    {"LookupTableExportV2", read_export},
    {"InitializeTableV2", read_insert},
    {"InitializeTable", read_insert},
    {"InitializeTableFromTextFileV2", read_from_file},
};

}  // namespace

std::span<const NamedReader> resource_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
