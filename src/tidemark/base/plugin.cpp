#include "tidemark/base/plugin.h"

#include <dlfcn.h>

namespace tidemark {

namespace {

std::string folder_of_this_library() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&folder_of_this_library), &info) || !info.dli_fname) {
    return {};
  }
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace

const void* open_plugin(const char* library, const char* symbol, std::string& why, Lookup lookup) {
  const std::string path = folder_of_this_library() + library;
  int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Sanitizers refuse it: they have to come first.
  if (lookup == Lookup::itself_first) flags |= RTLD_DEEPBIND;
#else
  static_cast<void>(lookup);
#endif
  void* opened = dlopen(path.c_str(), flags);
  void* found = opened ? dlsym(opened, symbol) : nullptr;
  if (!found) {
    const char* error = dlerror();
    why = path + " cannot be loaded: " + (error ? error : "it lacks its table");
    return nullptr;
  }
  return reinterpret_cast<const void* (*)()>(found)();
}

}  // namespace tidemark
