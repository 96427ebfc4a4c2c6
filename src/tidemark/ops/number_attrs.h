// Attributes of a call as numbers, for code that knows nothing of attributes: loops over elements,
// instructions of fused programs.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

/// The first attributes in the op's order; 0 for what is none or no number.
inline void read_number_attrs(const OpDef& op, std::span<const Attr> attrs,
                              std::span<double> numbers) {
  for (size_t i = 0; i < attrs.size() && i < numbers.size(); ++i) {
    const Param& param = op.params()[static_cast<size_t>(op.attrs()[i])];
    const Attr& attr = attrs[i];
    if (attr.is_none()) continue;
    if (param.attr_kind == AttrKind::real) numbers[i] = attr.as_real();
    if (param.attr_kind == AttrKind::boolean) numbers[i] = attr.as_bool();
    if (param.attr_kind == AttrKind::integer) numbers[i] = static_cast<double>(attr.as_int());
  }
}

}  // namespace tidemark
