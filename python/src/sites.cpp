#include "sites.h"

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "errors.h"
#include "internal_code.h"
#include "interpreter_lock.h"

namespace tidemark::python {

bool source_lines = true;

namespace {

struct Words {
  uintptr_t first = 0;   // the code object
  uintptr_t second = 0;  // the instruction
  bool operator==(const Words&) const = default;
};
struct HashWords {
  size_t operator()(const Words& w) const noexcept {
    return (w.first >> 4) * 0x9e3779b97f4a7c15u ^ w.second;
  }
};

std::string base_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string text_of(PyObject* text) {
  const char* utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "?";
}

/// Explains sites whose words are a code object and an instruction. Each word pair in `held_` owns
/// a reference to its code object, so the address stays the name of one code object only.
class PythonSites final : public memory::SiteSource {
 public:
  memory::Site* site_for(PyCodeObject* code, int instruction) {
    const Words words{reinterpret_cast<uintptr_t>(code), static_cast<uintptr_t>(instruction)};
    for (;;) {  // again if the table forgot something meanwhile: it may have been these words
      const uint64_t before = memory::site_generation();
      drop_forgotten();
      memory::Site* site = memory::intern(*this, words.first, words.second);
      if (site->source == this && held_.insert(words).second) Py_INCREF(code);
      if (memory::site_generation() == before) return site;
    }
  }

  std::string describe(uintptr_t first, uintptr_t second) override {
    if (!Py_IsInitialized()) return "(Python has ended)";
    const Locked locked;
    auto* code = reinterpret_cast<PyCodeObject*>(first);
    const int line = PyCode_Addr2Line(code, static_cast<int>(second));
    std::string out = base_name(text_of(code->co_filename)) + ":" + std::to_string(line);
    const std::string function = text_of(code->co_name);
    if (function != "<module>") out += " in " + function;
    return out;
  }

  /// May come on any thread, so the references are dropped later, under the GIL.
  void forget(uintptr_t first, uintptr_t second) noexcept override {
    std::lock_guard hold(lock_);
    try {
      forgotten_.push_back({first, second});
    } catch (...) {  // out of memory: the code object then stays
    }
  }

 private:
  void drop_forgotten() {
    std::vector<Words> words;
    {
      std::lock_guard hold(lock_);
      words.swap(forgotten_);
    }
    for (const Words& w : words) {
      if (held_.erase(w)) Py_DECREF(reinterpret_cast<PyObject*>(w.first));
    }
  }

  std::unordered_set<Words, HashWords> held_;  // guarded by the GIL
  std::mutex lock_;
  std::vector<Words> forgotten_;  // guarded by lock_
};

/// Never destroyed: sites may be described while the process ends.
PythonSites& python_sites() {
  static auto* instance = new PythonSites;
  return *instance;
}

/// What is known about an instruction. Direct-mapped; guarded by the GIL.
struct Known {
  PyCodeObject* code = nullptr;
  int instruction = -1;
  int sole_producer = -1;    // is_sole_consumer holds for it
  int shared_producer = -1;  // is_sole_consumer does not
  bool inside = false;       // of the package: ask the caller's frame
  memory::Site* site = nullptr;
};
constexpr size_t kKnown = 1024;
Known known[kKnown];
uint64_t known_generation = 0;

constexpr size_t kMostInsideCodes = 16384;
/// Own references to code objects of the package, so that their addresses stay theirs.
std::unordered_set<PyCodeObject*>* inside_codes;
std::vector<std::string>* inside_paths;

bool is_inside(PyCodeObject* code) {
  if (inside_codes->contains(code)) return true;
  const std::string file = text_of(code->co_filename);
  for (const std::string& path : *inside_paths) {
    if (!file.starts_with(path)) continue;
    inside_codes->insert(code);
    Py_INCREF(code);
    return true;
  }
  return false;
}

void forget_known() {
  for (Known& k : known) k = {};
  if (inside_codes->size() > kMostInsideCodes) {
    for (PyCodeObject* code : *inside_codes) Py_DECREF(code);
    inside_codes->clear();
  }
}

Known& slot_of(const Place& place) {
  const auto address = reinterpret_cast<uintptr_t>(place.code);
  return known[((address >> 4) ^ (address >> 14) ^ static_cast<unsigned>(place.instruction >> 1)) %
               kKnown];
}

[[gnu::noinline]] void learn(Known& k, const Place& place) {
  if (inside_codes->size() > kMostInsideCodes) forget_known();
  k = {};
  k.inside = is_inside(place.code);
  if (!k.inside) k.site = python_sites().site_for(place.code, place.instruction);
  k.code = place.code;
  k.instruction = place.instruction;
}

/// The entry for the place; valid until the next call.
Known& know(const Place& place) {
  const uint64_t generation = memory::site_generation();
  if (generation != known_generation) [[unlikely]] {
    forget_known();
    known_generation = generation;
  }
  Known& k = slot_of(place);
  if (k.code != place.code || k.instruction != place.instruction) [[unlikely]]
    learn(k, place);
  return k;
}

PyObject* set_source_lines(PyObject*, PyObject* on) {
  const int wanted = PyObject_IsTrue(on);
  if (wanted < 0) return nullptr;
  return PyBool_FromLong(std::exchange(source_lines, wanted != 0));
}

PyObject* is_internal_code(PyObject*, PyObject* code) {
  if (!PyCode_Check(code)) Py_RETURN_FALSE;
  return guarded([&]() -> PyObject* {
    return PyBool_FromLong(is_internal(reinterpret_cast<PyCodeObject*>(code)) ? 1 : 0);
  });
}

PyObject* add_internal_path(PyObject*, PyObject* path) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(path);
    if (!text) throw PythonError{};
    inside_paths->emplace_back(text);
    forget_known();
    Py_RETURN_NONE;
  });
}

PyObject* current_place(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Place place;
    memory::Site* site = innermost_place(place) ? site_at(place) : nullptr;
    if (!site) Py_RETURN_NONE;
    return PyUnicode_FromString(memory::describe(*site).c_str());
  });
}

}  // namespace

bool is_internal(PyCodeObject* code) { return is_inside(code); }

memory::Site* site_at(Place place) {
  do {
    const Known& k = know(place);
    if (!k.inside) return k.site;
  } while (outer_place(place));
  return nullptr;
}

bool is_sole_consumer(const Place& place, int from) {
  Known& k = know(place);
  if (k.sole_producer == from) return true;
  if (k.shared_producer == from) return false;
  const bool is_sole = flows_straight(place.code, from, place.instruction);
  (is_sole ? k.sole_producer : k.shared_producer) = from;
  return is_sole;
}

void initialize_sites() {
  inside_codes = new std::unordered_set<PyCodeObject*>;
  inside_paths = new std::vector<std::string>;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&initialize_sites), &info) && info.dli_fname) {
    const std::string file = info.dli_fname;
    inside_paths->push_back(file.substr(0, file.rfind('/') + 1));
  }
}

PyMethodDef site_methods[] = {
    {"set_source_lines", set_source_lines, METH_O,
     "Whether tensors remember the line that made them. Returns the old value."},
    {"is_internal_code", is_internal_code, METH_O, "Whether a code object is the package's own."},
    {"add_internal_path", add_internal_path, METH_O,
     "Frames of files whose path starts so are not the user's own code."},
    {"current_place", current_place, METH_NOARGS,
     "The line of the user's program that runs now, as memory reports name it."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
