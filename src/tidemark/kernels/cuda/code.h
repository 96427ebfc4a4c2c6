// Kernels of one GPU, compiled from source while the process runs and kept: in memory, bounded, and
// in files that later processes read.
//
//   const Handle function = code.get("fused", source);
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tidemark/kernels/cuda/context.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::cuda {

/// A module on the GPU, for as long as somebody may launch its function.
class LoadedCode {
 public:
  /// With the context pushed. Throws what the driver refuses.
  LoadedCode(const Context& context, const std::string& image, const std::string& function);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  Handle function() const { return function_; }

 private:
  const Context& context_;
  Handle module_ = 0, function_ = 0;
};

class CodeCache {
 public:
  static constexpr int64_t kMostBytes = 64 << 20;

  /// `compiler` is asked for with the first source.
  CodeCache(const Context& context, const SourceCompiler& (*compiler)());

  /// The function of that name in the source, which stands behind device/elements.h. With the
  /// context pushed. Throws InternalError where the source does not compile.
  std::shared_ptr<const LoadedCode> get(const std::string& function, const std::string& source);

 private:
  struct Entry {
    std::string source;
    int64_t bytes;
    std::shared_ptr<const LoadedCode> code;
  };
  std::string compile(const std::string& function, const std::string& source) const;
  void bound();

  const Context& context_;
  const SourceCompiler& (*compiler_)();
  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last comes first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> found_;  // by source
  memory::CacheUse use_;
  memory::CacheRegistration listed_;  // last: it asks the others
};

}  // namespace tidemark::cuda
