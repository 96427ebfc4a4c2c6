// Kernels of ops/lookup.cpp.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/tables/hash_table.h"

namespace tidemark::cpu {

namespace {

std::shared_ptr<HashTable> table_of(const KernelContext& k) {
  return HashTable::get(k.attr("table").as_int());
}

/// Between the shape rule and the kernel another thread may have changed the table: nothing is
/// written beyond what was asked for.
void find_strings(KernelContext& k, const HashTable& table) {
  const Tensor& fallback = k.input(1);
  const int64_t elements = table.row_elements(), fallbacks = fallback.num_elements();
  const int64_t room = k.string_capacity(0);
  int64_t used = 0;
  StringSink sink(k, 0);
  table.for_rows(k.input(0), [&](int64_t i, int64_t row) {
    for (int64_t j = 0; j < elements; ++j) {
      const std::string_view value =
          row >= 0 ? table.string_value(row, j)
                   : fallback.string_at(fallbacks == 1 ? 0 : (i * elements + j) % fallbacks);
      used += static_cast<int64_t>(value.size());
      if (used > room) {
        tidemark::fail<FailedPreconditionError>(
            "[", k.call().op.name(), "] the table was changed while its values were read");
      }
      sink.append(value);
      sink.close();
    }
  });
}

void table_find(KernelContext& k) {
  const auto table = table_of(k);
  if (table->value_dtype() == DType::string) return find_strings(k, *table);
  const size_t item = size_of(table->value_dtype());
  const auto elements = static_cast<size_t>(table->row_elements());
  const size_t bytes = item * elements;
  const size_t fallbacks = static_cast<size_t>(k.input(1).num_elements());
  const char* fallback = k.in<char>(1);
  char* out = k.out<char>(0);
  table->for_rows(k.input(0), [&](int64_t i, int64_t row) {
    char* to = out + static_cast<size_t>(i) * bytes;
    if (bytes == 0) return;
    if (row >= 0) {
      std::memcpy(to, table->row(row), bytes);
    } else if (fallbacks == 1) {
      for (size_t j = 0; j < elements; ++j) std::memcpy(to + j * item, fallback, item);
    } else {
      const size_t rows = fallbacks / elements;
      std::memcpy(to, fallback + static_cast<size_t>(i) % rows * bytes, bytes);
    }
  });
}

void table_insert(KernelContext& k) {
  const auto table = table_of(k);
  table->insert(k.input(0), k.input(1), k.attr("overwrite").as_bool());
  *k.out<int64_t>(0) = table->size();
}

void table_remove(KernelContext& k) {
  const auto table = table_of(k);
  table->remove(k.input(0));
  *k.out<int64_t>(0) = table->size();
}

void table_size(KernelContext& k) { *k.out<int64_t>(0) = table_of(k)->size(); }

void check_room(KernelContext& k, int output, const HashTable& table, int64_t rows, bool keys) {
  int64_t used = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (keys) {
      used += static_cast<int64_t>(table.string_key(i).size());
    } else {
      for (int64_t j = 0; j < table.row_elements(); ++j) {
        used += static_cast<int64_t>(table.string_value(i, j).size());
      }
    }
  }
  if (used <= k.string_capacity(output)) return;
  tidemark::fail<FailedPreconditionError>("[", k.call().op.name(),
                                          "] the table was changed while it was read");
}

void table_export(KernelContext& k) {
  const auto table = table_of(k);
  table->locked([&](int64_t now) {
    const int64_t rows = std::min(now, k.output(0).dim(0));
    if (table->key_dtype() == DType::string) {
      check_room(k, 0, *table, rows, true);
      StringSink sink(k, 0);
      for (int64_t i = 0; i < rows; ++i) sink.append(table->string_key(i)), sink.close();
    } else if (table->key_dtype() == DType::int32) {
      for (int64_t i = 0; i < rows; ++i) {
        k.out<int32_t>(0)[i] = static_cast<int32_t>(table->int_key(i));
      }
    } else {
      for (int64_t i = 0; i < rows; ++i) k.out<int64_t>(0)[i] = table->int_key(i);
    }
    const int64_t elements = rows * table->row_elements();
    if (table->value_dtype() == DType::string) {
      check_room(k, 1, *table, rows, false);
      StringSink sink(k, 1);
      for (int64_t i = 0; i < elements; ++i) {
        sink.append(table->string_value(i / table->row_elements(), i % table->row_elements()));
        sink.close();
      }
    } else if (elements > 0) {
      std::memcpy(k.out<char>(1), table->row(0),
                  static_cast<size_t>(elements) * size_of(table->value_dtype()));
    }
    k.set_rows(0, rows);
    k.set_rows(1, rows);
  });
}

constexpr DTypeSet kKeys = dtype_set(DType::int32, DType::int64, DType::string);

}  // namespace

TIDEMARK_KERNEL_OF(cpu, table_find, kKeys, table_find);
TIDEMARK_KERNEL_OF(cpu, table_insert, kKeys, table_insert);
TIDEMARK_KERNEL_OF(cpu, table_remove, kKeys, table_remove);
TIDEMARK_KERNEL_OF(cpu, table_size, dtype_set(DType::int64), table_size);
TIDEMARK_KERNEL_OF(cpu, table_export, kKeys, table_export);

}  // namespace tidemark::cpu
