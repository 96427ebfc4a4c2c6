// Upcalls: what lower layers need from higher ones. Filled in src/tidemark/upcalls.cpp, a constant:
// nothing is set while the process runs, and nothing depends on the order of initialisers.
#pragma once

#include <memory>
#include <string_view>

namespace tidemark {

class Accelerator;
class Backend;

struct Upcalls {
  const Backend& (*cpu_backend)();
  /// The device `index` of a kind; null: there is no such kind, or it has fewer devices.
  std::unique_ptr<Accelerator> (*open_accelerator)(std::string_view kind, int index);
};

extern const Upcalls upcalls;

}  // namespace tidemark
