// Examples that were written as protocol buffers write JSON.
//
//   example_of_json(R"({"features": {"feature": {"a": {"floatList": {"value": [1]}}}}})")
#pragma once

#include <tidemark/export.h>

#include <string>
#include <string_view>

namespace tidemark::io {

/// The bytes of the Example message. Throws InvalidArgumentError for what is none.
TIDEMARK_API std::string example_of_json(std::string_view json);

}  // namespace tidemark::io
