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

const void* open_plugin(const char* library, const char* symbol, std::string& why) {
  const std::string path = folder_of_this_library() + library;
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* found = opened ? dlsym(opened, symbol) : nullptr;
  if (!found) {
    const char* error = dlerror();
    why = path + " cannot be loaded: " + (error ? error : "it lacks its table");
    return nullptr;
  }
  return reinterpret_cast<const void* (*)()>(found)();
}

}  // namespace tidemark
