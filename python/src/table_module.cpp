// _tidemark.HashTable: what keeps a table alive; everything else goes through the table ops. And
// the checksum of record files.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/tables/hash_table.h"

#include "memory_module.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

std::shared_ptr<HashTable> create(const std::string& key, const std::string& value,
                                  const std::vector<int64_t>& shape) {
  return HashTable::create(dtype_from_name(key), dtype_from_name(value),
                           Shape(std::span<const int64_t>(shape)));
}

}  // namespace

void add_table_type(nb::module_& m) {
  nb::class_<HashTable>(m, "HashTable", nb::is_weak_referenceable())
      .def_prop_ro("number", &HashTable::number)
      .def_prop_ro("nbytes", &HashTable::nbytes)
      .def("clear", &HashTable::clear);
  m.def("new_table", create, nb::arg("key_dtype"), nb::arg("value_dtype"), nb::arg("value_shape"),
        "An empty table, by the names of its dtypes.");
  m.def(
      "crc32c",
      [](nb::bytes data) {
        return text::crc32c({data.c_str(), data.size()});
      },
      nb::arg("data"), "CRC-32C of bytes.");
}

}  // namespace tidemark::python
