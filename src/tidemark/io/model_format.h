// How a model stands in the metadata of its tensor file; docs/saved-model.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::io {

inline constexpr std::string_view kModelFileName = "saved_model.tidemark";
inline constexpr std::string_view kModelKind = "model";

enum ModelField : uint32_t {
  kModelVariable = 1,
  kModelTable = 2,
  kModelFunction = 3,
  kModelSignature = 4,
  kModelObjects = 5,    // for Python: the objects the functions are attributes of
  kModelConstants = 6,  // how many
};
enum VariableField : uint32_t { kVariableName = 1, kVariableShape = 2, kVariableTrainable = 3 };
enum TableField : uint32_t { kTableKey = 1, kTableValue = 2, kTableShape = 3 };
enum FunctionField : uint32_t { kFunctionName = 1, kFunctionGraph = 2 };
enum SignatureField : uint32_t {
  kSignatureName = 1,
  kSignatureFunction = 2,
  kSignatureInput = 3,
  kSignatureOutput = 4,
};

inline std::string variable_key(size_t i) { return "variables/" + std::to_string(i); }
inline std::string constant_key(size_t i) { return "constants/" + std::to_string(i); }
inline std::string table_key(size_t i, const char* part) {
  return "tables/" + std::to_string(i) + "/" + part;
}

}  // namespace tidemark::io
