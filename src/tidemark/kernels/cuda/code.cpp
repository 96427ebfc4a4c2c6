#include "tidemark/kernels/cuda/code.h"

#include "tidemark/kernels/cuda/code_files.h"
#include "tidemark/kernels/cuda/texts.h"

namespace tidemark::cuda {

LoadedCode::LoadedCode(const Context& context, const std::string& image,
                       const std::string& function)
    : context_(context) {
  context.check(context.driver().load_module(&module_, image.data()), "cuModuleLoadData");
  const int status = context.driver().find_function(&function_, module_, function.c_str());
  if (status == kDone) return;
  context.driver().unload_module(module_);
  context.check(status, "cuModuleGetFunction");
}

LoadedCode::~LoadedCode() {
  if (context_.driver().push_context(context_.handle()) != kDone) return;
  context_.driver().synchronize();  // work under way may be running it
  context_.driver().unload_module(module_);
  context_.driver().pop_context();
}

CodeCache::CodeCache(const Context& context, const SourceCompiler& (*compiler)())
    : context_(context), compiler_(compiler), listed_([this] {
        std::lock_guard hold(mutex_);
        return use_;
      }) {
  use_.name = message("kernels of gpu:", context.device());
  use_.capacity = kMostBytes;
}

std::string CodeCache::compile(const std::string& function, const std::string& source) const {
  const SourceCompiler& compiler = compiler_();
  const int level = context_.facts().major * 10 + context_.facts().minor;
  const std::string whole = with_texts(source);
  const CodeFiles files(message("sm_", level, " nvrtc ", compiler.version));
  std::string code = files.read(whole);
  if (!code.empty()) return code;
  const CompiledCode made = compiler.compile(whole.c_str(), function.c_str(), level);
  code.assign(made.text ? made.text : "", made.bytes);
  const std::string words = made.bytes == 0 && made.text ? made.text : "";
  compiler.release(made);
  if (code.empty()) {
    fail<InternalError>("a kernel for gpu:", context_.device(), " does not compile: ", words, "\n",
                        source);
  }
  files.write(whole, code);
  return code;
}

std::shared_ptr<const LoadedCode> CodeCache::find(std::string_view key) {
  std::lock_guard hold(mutex_);
  const auto known = keyed_.find(key);
  if (known == keyed_.end()) return nullptr;
  ++use_.hits;
  entries_.splice(entries_.begin(), entries_, known->second);
  return entries_.front().code;
}

/// Of those that stand for one source the last few.
void CodeCache::remember(Place entry, std::string_view key) {
  if (key.empty() || keyed_.contains(key)) return;
  entry->keys.emplace_front(key);
  keyed_.emplace(entry->keys.front(), entry);
  if (entry->keys.size() <= kMostKeys) return;
  keyed_.erase(entry->keys.back());
  entry->keys.pop_back();
}

std::shared_ptr<const LoadedCode> CodeCache::get(const std::string& function,
                                                 const std::string& source) {
  return add(function, source, {});
}

std::shared_ptr<const LoadedCode> CodeCache::add(const std::string& function,
                                                 const std::string& source, std::string_view key) {
  std::lock_guard hold(mutex_);
  if (const auto known = found_.find(source); known != found_.end()) {
    ++use_.hits;
    entries_.splice(entries_.begin(), entries_, known->second);
    remember(entries_.begin(), key);
    return entries_.front().code;
  }
  ++use_.misses;
  const std::string image = compile(function, source);
  auto code = std::make_shared<const LoadedCode>(context_, image, function);
  entries_.push_front({source, static_cast<int64_t>(image.size() + source.size()), code, {}});
  found_.emplace(entries_.front().source, entries_.begin());
  remember(entries_.begin(), key);
  ++use_.entries;
  use_.bytes += entries_.front().bytes;
  bound();
  return code;
}

/// Steps of graphs keep what they launch beyond this.
void CodeCache::bound() {
  while (use_.bytes > kMostBytes && entries_.size() > 1) {
    found_.erase(entries_.back().source);
    for (const std::string& key : entries_.back().keys) keyed_.erase(key);
    use_.bytes -= entries_.back().bytes;
    entries_.pop_back();
    --use_.entries;
    ++use_.evictions;
  }
}

}  // namespace tidemark::cuda
