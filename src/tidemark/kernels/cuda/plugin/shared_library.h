// Libraries of CUDA, opened by name when they are first needed.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace tidemark::cuda {

/// Stays open as long as the process runs. Where it is not there, or lacks a function that was
/// asked for, is_there() is false and why() says so.
class SharedLibrary {
 public:
  explicit SharedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if ((library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL))) return;
      const char* error = dlerror();
      why_ += (why_.empty() ? "" : "; ") + std::string(error ? error : name);
    }
  }

  bool is_there() const { return library_ && why_.empty(); }
  const char* why() const { return why_.c_str(); }

  template <class Function>
  void find(Function& function, const char* name) {
    if (!library_) return;
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function) why_ += (why_.empty() ? "it lacks " : ", ") + std::string(name);
  }

 private:
  void* library_ = nullptr;
  std::string why_;
};

/// The function as the header calls it: names of newer versions are macros.
#define TIDEMARK_CUDA_NAME_(name) #name
#define TIDEMARK_CUDA_NAME(name) TIDEMARK_CUDA_NAME_(name)

}  // namespace tidemark::cuda
