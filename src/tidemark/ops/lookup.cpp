// Ops on hash tables. A table is named by its number; who uses the ops keeps the table alive.
#include <tidemark/op.h>

#include "tidemark/ops/text/sink.h"
#include "tidemark/tables/hash_table.h"

namespace tidemark {

namespace {

constexpr DTypeSet kKeys = dtype_set(DType::int32, DType::int64, DType::string);

std::shared_ptr<HashTable> table_of(const InferContext& c) {
  return HashTable::get(c.attr("table").as_int());
}

Shape joined(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return a;
  Shape out = Shape::filled(a.rank() + b.rank(), 0);
  for (int i = 0; i < a.rank(); ++i) out[i] = a[i];
  for (int i = 0; i < b.rank(); ++i) out[a.rank() + i] = b[i];
  return out;
}

void find_rule(InferContext& c) {
  const auto table = table_of(c);
  table->check_keys(c.input(0));
  if (c.dtype(1) != table->value_dtype()) {
    c.fail("the table's values are ", name_of(table->value_dtype()), "; the default value is ",
           name_of(c.dtype(1)));
  }
  const Shape out = joined(c.shape(0), table->value_shape());
  c.set(0, out, table->value_dtype());
  const Shape& fallback = c.shape(1);
  if (fallback.is_fully_known() && out.is_fully_known() && fallback != table->value_shape() &&
      fallback != out && fallback.num_elements() != 1) {
    c.fail("Expected shape ", table->value_shape(), " or ", out, " for default value, got ",
           fallback);
  }
  if (table->value_dtype() != DType::string || !text::holds_values(c.call())) return;
  int64_t characters = 0;
  const int64_t elements = table->row_elements(), fallbacks = c.input(1).num_elements();
  table->for_rows(c.input(0), [&](int64_t i, int64_t row) {
    for (int64_t j = 0; j < elements; ++j) {
      const std::string_view value =
          row >= 0 ? table->string_value(row, j)
                   : c.input(1).string_at(fallbacks == 1 ? 0 : (i * elements + j) % fallbacks);
      characters += static_cast<int64_t>(value.size());
    }
  });
  c.set_string_bytes(0, characters);
}

void insert_rule(InferContext& c) {
  const auto table = table_of(c);
  if (text::holds_values(c.call())) table->check_values(c.input(0), c.input(1));
  c.set(0, Shape{});
}

void remove_rule(InferContext& c) {
  table_of(c)->check_keys(c.input(0));
  c.set(0, Shape{});
}

void size_rule(InferContext& c) {
  (void)table_of(c);
  c.set(0, Shape{});
}

void export_rule(InferContext& c) {
  const auto table = table_of(c);
  table->locked([&](int64_t rows) {
    int64_t keys = 0, values = 0;
    for (int64_t i = 0; i < rows; ++i) {
      if (table->key_dtype() == DType::string) {
        keys += static_cast<int64_t>(table->string_key(i).size());
      }
      for (int64_t j = 0; table->value_dtype() == DType::string && j < table->row_elements(); ++j) {
        values += static_cast<int64_t>(table->string_value(i, j).size());
      }
    }
    c.set(0, Shape{rows}, table->key_dtype());
    c.set(1, joined(Shape{rows}, table->value_shape()), table->value_dtype());
    c.set_string_bytes(0, keys);
    c.set_string_bytes(1, values);
  });
}

}  // namespace

TIDEMARK_OP(table_find)
    .doc("The value of each key in the table, the default where there is none.")
    .input("keys", kKeys)
    .input("default_value", kAny, 'V')
    .attr("table", AttrKind::integer)
    .output("values", by_rule())
    .shape(find_rule)
    .stateful()
    .no_gradient();

TIDEMARK_OP(table_insert)
    .doc(
        "Puts keys and their values into the table; gives its size. Without `overwrite` a key "
        "cannot get another value.")
    .input("keys", kKeys)
    .input("values", kAny, 'V')
    .attr("table", AttrKind::integer)
    .attr("overwrite", AttrKind::boolean, true)
    .output("size", always(DType::int64))
    .shape(insert_rule)
    .stateful()
    .no_gradient();

TIDEMARK_OP(table_remove)
    .doc("Takes keys out of the table, those that are there; gives its size.")
    .input("keys", kKeys)
    .attr("table", AttrKind::integer)
    .output("size", always(DType::int64))
    .shape(remove_rule)
    .stateful()
    .no_gradient();

TIDEMARK_OP(table_size)
    .doc("The number of keys in the table.")
    .attr("table", AttrKind::integer)
    .output("size", always(DType::int64))
    .shape(size_rule)
    .stateful()
    .no_gradient();

TIDEMARK_OP(table_export)
    .doc("All keys of the table and their values.")
    .attr("table", AttrKind::integer)
    .output("keys", by_rule())
    .output("values", by_rule())
    .shape(export_rule)
    .stateful()
    .no_gradient();

}  // namespace tidemark
