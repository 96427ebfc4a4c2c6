#include "tidemark/memory/symbolize.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#if __has_include(<elfutils/libdwfl.h>)
#include <elfutils/libdwfl.h>
#define TIDEMARK_HAS_LIBDW 1
#endif

namespace tidemark::memory {
namespace {

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// "step" of "app::step(tidemark::Tensor const&)": arguments and return types only fill the line.
std::string function_name(const char* symbol) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 && demangled != nullptr ? demangled : symbol;
  std::free(demangled);
  const size_t arguments = name.find('(', name.starts_with("(anonymous") ? 1 : 0);
  if (arguments != std::string::npos && arguments > 0) name.resize(arguments);
  return name;
}

std::string hexadecimal(uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%jx", static_cast<uintmax_t>(address));
  return text;
}

std::string describe_by_symbols(uintptr_t address) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) {
    return hexadecimal(address);
  }
  const std::string library = file_name(info.dli_fname);
  if (info.dli_sname != nullptr) return library + " in " + function_name(info.dli_sname);
  return library + "+" + hexadecimal(address - reinterpret_cast<uintptr_t>(info.dli_fbase));
}

#if defined(TIDEMARK_HAS_LIBDW)

/// libdw, loaded when the first line is asked for: programs that never ask never pay for it.
class DebugInfo {
 public:
  /// Empty when there is no line for the address.
  std::string describe(uintptr_t address) {
    std::lock_guard hold(mutex_);
    if (!load()) return "";
    Dwfl* session = open_session();
    if (session == nullptr) return "";
    std::string out = look_up(session, address);
    end_(session);  // debug information is large; keeping it would be memory nobody asked for
    return out;
  }

 private:
  template <class F>
  bool bind(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
    return function != nullptr;
  }

  bool load() {
    if (tried_) return usable_;
    tried_ = true;
    library_ = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    usable_ = library_ != nullptr && bind(begin_, "dwfl_begin") && bind(end_, "dwfl_end") &&
              bind(report_begin_, "dwfl_report_begin") && bind(report_end_, "dwfl_report_end") &&
              bind(report_process_, "dwfl_linux_proc_report") &&
              bind(find_elf_, "dwfl_linux_proc_find_elf") &&
              bind(find_debuginfo_, "dwfl_standard_find_debuginfo") &&
              bind(module_of_, "dwfl_addrmodule") && bind(name_of_, "dwfl_module_addrname") &&
              bind(line_of_, "dwfl_module_getsrc") && bind(line_info_, "dwfl_lineinfo");
    return usable_;
  }

  Dwfl* open_session() {
    callbacks_.find_elf = find_elf_;
    callbacks_.find_debuginfo = find_debuginfo_;
    callbacks_.debuginfo_path = &debuginfo_path_;
    Dwfl* session = begin_(&callbacks_);
    if (session == nullptr) return nullptr;
    report_begin_(session);
    if (report_process_(session, getpid()) != 0 || report_end_(session, nullptr, nullptr) != 0) {
      end_(session);
      return nullptr;
    }
    return session;
  }

  std::string look_up(Dwfl* session, uintptr_t address) {
    Dwfl_Module* module = module_of_(session, address);
    if (module == nullptr) return "";
    Dwfl_Line* line = line_of_(module, address);
    if (line == nullptr) return "";
    int number = 0;
    const char* file = line_info_(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (file == nullptr) return "";
    std::string out = file_name(file) + ":" + std::to_string(number);
    if (const char* symbol = name_of_(module, address)) out += " in " + function_name(symbol);
    return out;
  }

  std::mutex mutex_;
  bool tried_ = false;
  bool usable_ = false;
  void* library_ = nullptr;
  Dwfl_Callbacks callbacks_{};
  char* debuginfo_path_ = nullptr;
  decltype(dwfl_begin)* begin_ = nullptr;
  decltype(dwfl_end)* end_ = nullptr;
  decltype(dwfl_report_begin)* report_begin_ = nullptr;
  decltype(dwfl_report_end)* report_end_ = nullptr;
  decltype(dwfl_linux_proc_report)* report_process_ = nullptr;
  decltype(dwfl_linux_proc_find_elf)* find_elf_ = nullptr;
  decltype(dwfl_standard_find_debuginfo)* find_debuginfo_ = nullptr;
  decltype(dwfl_addrmodule)* module_of_ = nullptr;
  decltype(dwfl_module_addrname)* name_of_ = nullptr;
  decltype(dwfl_module_getsrc)* line_of_ = nullptr;
  decltype(dwfl_lineinfo)* line_info_ = nullptr;
};

#endif

}  // namespace

std::string describe_address(const void* return_address) {
  // The instruction after the call may belong to the next line, even to the next function.
  const auto address = reinterpret_cast<uintptr_t>(return_address) - 1;
#if defined(TIDEMARK_HAS_LIBDW)
  static auto* debug_info = new DebugInfo;
  if (std::string line = debug_info->describe(address); !line.empty()) return line;
#endif
  return describe_by_symbols(address);
}

}  // namespace tidemark::memory
