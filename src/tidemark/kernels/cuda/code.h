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
  static constexpr size_t kMostKeys = 16;  // of one kernel

  /// `compiler` is asked for with the first source.
  CodeCache(const Context& context, const SourceCompiler& (*compiler)());

  /// The function of that name in the source, which with_texts makes whole. With the
  /// context pushed. Throws InternalError where the source does not compile.
  std::shared_ptr<const LoadedCode> get(const std::string& function, const std::string& source);
  /// The same for what `key` stands for; only where that is not known is the source asked for.
  template <class WriteSource>
  std::shared_ptr<const LoadedCode> get_keyed(const std::string& function, std::string_view key,
                                              WriteSource write_source) {
    if (auto known = find(key)) return known;
    return add(function, write_source(), key);
  }

 private:
  struct Entry {
    std::string source;
    int64_t bytes;
    std::shared_ptr<const LoadedCode> code;
    std::list<std::string> keys;  // where they stay, for `keyed_` refers to them
  };
  using Place = std::list<Entry>::iterator;
  std::shared_ptr<const LoadedCode> find(std::string_view key);
  /// An empty key: none.
  std::shared_ptr<const LoadedCode> add(const std::string& function, const std::string& source,
                                        std::string_view key);
  void remember(Place entry, std::string_view key);
  std::string compile(const std::string& function, const std::string& source) const;
  void bound();

  const Context& context_;
  const SourceCompiler& (*compiler_)();
  std::mutex mutex_;
  std::list<Entry> entries_;                                   // the one used last comes first
  std::unordered_map<std::string_view, Place> found_, keyed_;  // by source, by key
  memory::CacheUse use_;
  memory::CacheRegistration listed_;  // last: it asks the others
};

}  // namespace tidemark::cuda
