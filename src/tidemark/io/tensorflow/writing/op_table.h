// OpTable: what operations of TensorFlow take and give, as `op_defs.tsv` has them.
//
//   OpTable ops;
//   const OpForm* form = ops.find("MatMul");        // inputs "a:T b:T", outputs "product:T", …
#pragma once

#include <tidemark/export.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io::tensorflow {

/// The whole table: a line an operation, its parts apart by tabs.
TIDEMARK_API std::string_view op_forms_text();

/// `x:T` is one tensor, `x:N*T` are N of one dtype, `x:[T]` are some of dtypes of their own.
struct OpArgument {
  std::string_view name, kind, number;
  bool is_list = false;
};

struct OpAttribute {
  std::string_view name, kind;
  std::optional<std::string_view> fallback;  // as Python writes it
};

struct OpForm {
  std::string_view name;
  std::vector<OpArgument> inputs, outputs;
  std::vector<OpAttribute> attrs;

  const OpAttribute* find(std::string_view attr) const;
};

/// Reads the lines that are asked for, each once.
class OpTable {
 public:
  /// Null: TensorFlow has no such operation.
  const OpForm* find(std::string_view op);

 private:
  std::map<std::string_view, OpForm> known_;
};

}  // namespace tidemark::io::tensorflow
