#include "tidemark/memory/debug_info.h"

#if __has_include(<elfutils/libdwfl.h>)

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace tidemark::memory {
namespace {

#define TIDEMARK_LIBDW_FUNCTIONS(use)                                                             \
  use(dwfl_begin) use(dwfl_end) use(dwfl_report_begin) use(dwfl_report_end)                       \
      use(dwfl_linux_proc_report) use(dwfl_linux_proc_find_elf) use(dwfl_standard_find_debuginfo) \
          use(dwfl_addrmodule) use(dwfl_module_addrname) use(dwfl_module_addrdie)                 \
              use(dwfl_module_nextcu) use(dwarf_haspc) use(dwarf_getsrc_die) use(dwarf_lineno)    \
                  use(dwarf_linesrc) use(dwarf_getscopes) use(dwarf_tag) use(dwarf_diename)       \
                      use(dwarf_attr) use(dwarf_formudata) use(dwarf_getsrcfiles)                 \
                          use(dwarf_filesrc)

/// The functions of libdw, found at run time.
struct Libdw {
#define TIDEMARK_DECLARE(name) decltype(::name)* name = nullptr;
  TIDEMARK_LIBDW_FUNCTIONS(TIDEMARK_DECLARE)
#undef TIDEMARK_DECLARE
  bool usable = false;

  Libdw() {
    void* library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return;
    usable = true;
#define TIDEMARK_BIND(name)                                       \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  usable = usable && name != nullptr;
    TIDEMARK_LIBDW_FUNCTIONS(TIDEMARK_BIND)
#undef TIDEMARK_BIND
  }
};

/// One look-up. The session is closed afterwards: debug information is large, and keeping it would
/// be memory nobody asked for.
class Session {
 public:
  explicit Session(const Libdw& dw) : dw_(dw) {
    callbacks_.find_elf = dw.dwfl_linux_proc_find_elf;
    callbacks_.find_debuginfo = dw.dwfl_standard_find_debuginfo;
    callbacks_.debuginfo_path = &debuginfo_path_;
    dwfl_ = dw.dwfl_begin(&callbacks_);
    if (dwfl_ == nullptr) return;
    dw.dwfl_report_begin(dwfl_);
    dw.dwfl_linux_proc_report(dwfl_, getpid());
    dw.dwfl_report_end(dwfl_, nullptr, nullptr);
  }
  ~Session() {
    if (dwfl_ != nullptr) dw_.dwfl_end(dwfl_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  SourceLine find(uintptr_t address) {
    SourceLine out;
    Dwfl_Module* module = dwfl_ != nullptr ? dw_.dwfl_addrmodule(dwfl_, address) : nullptr;
    if (module == nullptr) return out;
    if (const char* symbol = dw_.dwfl_module_addrname(module, address)) out.function = symbol;
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = unit_of(module, address, bias);
    Dwarf_Line* line = unit ? dw_.dwarf_getsrc_die(unit, address - bias) : nullptr;
    if (line == nullptr || dw_.dwarf_lineno(line, &out.line) != 0) return out;
    const char* file = dw_.dwarf_linesrc(line, nullptr, nullptr);
    if (file == nullptr) return out;
    out.file = file;
    leave_inlined_functions(unit, address - bias, out);
    return out;
  }

 private:
  static bool is_library_code(const std::string& file) {
    return file.find("/include/tidemark/") != std::string::npos ||
           file.find("/usr/include/") != std::string::npos ||
           file.find("/usr/lib/") != std::string::npos;
  }

  uint64_t number(Dwarf_Die* die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dw_.dwarf_attr(die, name, &attribute) == nullptr) return 0;
    return dw_.dwarf_formudata(&attribute, &value) == 0 ? value : 0;
  }

  /// What was compiled from one source. g++ lists which addresses are whose, clang does not: then
  /// each is asked.
  Dwarf_Die* unit_of(Dwfl_Module* module, uintptr_t address, Dwarf_Addr& bias) {
    if (Dwarf_Die* listed = dw_.dwfl_module_addrdie(module, address, &bias)) return listed;
    Dwarf_Die* unit = nullptr;
    do {
      unit = dw_.dwfl_module_nextcu(module, unit, &bias);
    } while (unit != nullptr && dw_.dwarf_haspc(unit, address - bias) <= 0);
    return unit;
  }

  /// Walks from the innermost inlined function outwards until a line of the user's is reached.
  void leave_inlined_functions(Dwarf_Die* unit, Dwarf_Addr address, SourceLine& out) {
    Dwarf_Files* files = nullptr;
    if (dw_.dwarf_getsrcfiles(unit, &files, nullptr) != 0) return;
    Dwarf_Die* scopes = nullptr;
    const int count = dw_.dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < count; ++i) {
      if (dw_.dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
      if (!is_library_code(out.file)) {  // the line stands in this inlined function
        if (const char* name = dw_.dwarf_diename(&scopes[i])) out.function = name;
        break;
      }
      const char* file =
          dw_.dwarf_filesrc(files, number(&scopes[i], DW_AT_call_file), nullptr, nullptr);
      if (file == nullptr) break;
      out.file = file;
      out.line = static_cast<int>(number(&scopes[i], DW_AT_call_line));
    }
    std::free(scopes);
  }

  const Libdw& dw_;
  Dwfl_Callbacks callbacks_{};
  char* debuginfo_path_ = nullptr;
  Dwfl* dwfl_ = nullptr;
};

}  // namespace

SourceLine find_line(uintptr_t address) {
  static const auto* dw = new Libdw;
  if (!dw->usable) return {};
  return Session(*dw).find(address);
}

}  // namespace tidemark::memory

#else

namespace tidemark::memory {

SourceLine find_line(uintptr_t) { return {}; }

}  // namespace tidemark::memory

#endif
