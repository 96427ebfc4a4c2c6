// Whether devices may round the float32 operands of products and convolutions to 10 bits of
// fraction (TensorFloat-32), where their matrix units are many times as fast.
#pragma once

#include <tidemark/export.h>

namespace tidemark {

/// Devices look when they are opened: what is asked for later is for those opened after it. Returns
/// the old value. As tf.config.experimental.enable_tensor_float_32_execution.
TIDEMARK_API bool set_tensor_float_32(bool is_allowed) noexcept;
TIDEMARK_API bool tensor_float_32() noexcept;

}  // namespace tidemark
