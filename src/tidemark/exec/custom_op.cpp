#include <tidemark/custom_op.h>

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <set>

namespace tidemark {

namespace {

std::set<std::string> op_names() {
  std::set<std::string> names;
  for (const OpDef* op : OpRegistry::instance().all()) names.insert(op->name());
  return names;
}

}  // namespace

std::vector<std::string> load_op_library(const std::string& path) {
  static std::mutex mutex;
  static std::map<void*, std::vector<std::string>> opened;
  std::lock_guard lock(mutex);
  const std::set<std::string> before = op_names();
  // Definitions register in static initialisers, and what those throw may not cross dlopen: the
  // registrars park their error here and it is thrown once the library is open.
  detail::collect_registration_errors(true);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string problem = detail::collect_registration_errors(false);
  if (!handle) {
    const char* reason = dlerror();
    fail<NotFoundError>("cannot open op library '", path, "': ", reason ? reason : "no reason",
                        ". Give the path of a shared library built against Tidemark's headers");
  }
  if (!problem.empty()) fail("op library '", path, "' is not usable: ", problem);
  auto& names = opened[handle];
  for (const std::string& name : op_names()) {
    if (!before.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace tidemark
