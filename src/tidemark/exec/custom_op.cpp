#include <tidemark/custom_op.h>

#include <dlfcn.h>
#include <elf.h>

#include <filesystem>
#include <fstream>
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

/// True when the file ends before the parts its own headers list: mapping it would succeed, and
/// touching the missing pages would kill the process. A file that is no library is left to dlopen.
bool is_cut_off(const std::string& path) {
  std::error_code missing;
  const uint64_t size = std::filesystem::file_size(path, missing);
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (missing || !file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::string_view(reinterpret_cast<char*>(header.e_ident), SELFMAG) != ELFMAG) return false;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return true;
    if (part.p_filesz > size || part.p_offset > size - part.p_filesz) return true;
  }
  return false;
}

/// What a library gave when it was opened first.
struct Opened {
  std::vector<std::string> names;
  std::string problem;
};

}  // namespace

std::vector<std::string> load_op_library(const std::string& path) {
  static std::mutex mutex;
  static auto& opened = *new std::map<void*, Opened>;
  std::lock_guard lock(mutex);
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail("the path of an op library must have at least one character, and none of them zero");
  }
  if (is_cut_off(path)) {
    fail("op library '", path, "' ends before its own headers say: it was not copied whole");
  }
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
  auto [entry, is_new] = opened.try_emplace(handle);
  Opened& library = entry->second;
  if (is_new) library.problem = problem;
  if (!library.problem.empty()) fail("op library '", path, "' is not usable: ", library.problem);
  for (const std::string& name : op_names()) {
    if (is_new && !before.contains(name)) library.names.push_back(name);
  }
  return library.names;
}

}  // namespace tidemark
