#include "holders.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tidemark/memory/site.h"
#include "tidemark/memory/snapshot.h"

#include "errors.h"
#include "kept_buffers.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

// How an object is reached.
constexpr int32_t kGarbage = -2;  // by nobody: a cycle that the collector has not met yet
constexpr int32_t kStack = -3;    // by native code or a running expression

struct Step {
  PyObject* object;  // counted
  int32_t parent;    // -1: a root
  int32_t root;      // its number, kGarbage or kStack
};

struct Sample {
  int32_t step;  // the tensor's own
  const memory::Buffer* buffer;
};

/// What one object keeps directly.
struct Kept {
  int64_t bytes = 0;
  int64_t count = 0;
  std::map<const memory::Site*, std::pair<int64_t, int64_t>> by_site;
  std::map<std::tuple<const memory::Site*, const char*, int>, int64_t> by_group;
  std::vector<Sample> largest;
};

constexpr size_t kMostSamples = 64;

/// A walk over all objects that can be reached from some, nearest first. No Python code runs.
class Walk {
 public:
  ~Walk() {
    for (const Step& step : steps_) Py_DECREF(step.object);
  }

  void from_roots(PyObject* roots) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots); ++i) {
      add(PyList_GET_ITEM(roots, i), -1, static_cast<int32_t>(i));
    }
    spread();
  }

  /// What the roots did not lead to. An object is garbage when all references to it come from
  /// other such objects, as for Python's own collector.
  void from_the_rest(PyObject* all) {
    std::unordered_map<PyObject*, Py_ssize_t> outside;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all); ++i) {
      PyObject* object = PyList_GET_ITEM(all, i);
      if (object == all || index_.contains(object)) continue;
      outside[object] = Py_REFCNT(object) - 1;  // the list's own
    }
    for (const auto& [object, count] : outside) {
      if (Py_TYPE(object)->tp_traverse) {
        Py_TYPE(object)->tp_traverse(
            object,
            [](PyObject* child, void* arg) {
              auto& counts = *static_cast<std::unordered_map<PyObject*, Py_ssize_t>*>(arg);
              const auto found = counts.find(child);
              if (found != counts.end()) --found->second;
              return 0;
            },
            &outside);
      }
    }
    for (const auto& [object, count] : outside) {
      if (count > 0) add(object, -1, kStack);
    }
    spread();
    for (const auto& [object, count] : outside) add(object, -1, kGarbage);
    spread();
  }

  nb::list answer();

 private:
  void add(PyObject* object, int32_t parent, int32_t root) {
    if (!index_.try_emplace(object, static_cast<int32_t>(steps_.size())).second) return;
    Py_INCREF(object);
    steps_.push_back({object, parent, root});
  }

  void spread() {
    for (; next_ < steps_.size(); ++next_) {
      const Step step = steps_[next_];
      const Sort sort = kept_.sort_of(step.object);
      at_ = static_cast<int32_t>(next_);
      if (sort == Sort::array) {
        if (PyObject* base = KeptBuffers::base_of(step.object)) add(base, at_, step.root);
        continue;
      }
      if (sort != Sort::other) note(step, sort);
      PyTypeObject* type = Py_TYPE(step.object);
      if (!type->tp_traverse || !PyObject_IS_GC(step.object)) continue;
      type->tp_traverse(
          step.object,
          [](PyObject* child, void* arg) {
            auto* walk = static_cast<Walk*>(arg);
            if (child && is_interesting(child)) {
              walk->add(child, walk->at_, walk->steps_[static_cast<size_t>(walk->at_)].root);
            }
            return 0;
          },
          this);
    }
  }

  /// Most objects are text and numbers.
  static bool is_interesting(PyObject* object) {
    return !PyUnicode_CheckExact(object) && !PyLong_CheckExact(object) &&
           !PyFloat_CheckExact(object) && !PyBytes_CheckExact(object) && !PyCode_Check(object);
  }

  void note(const Step& step, Sort sort) {
    const int32_t own = at_;
    // A tensor is kept by what refers to it; what has buffers of its own keeps them itself.
    const bool is_value = sort == Sort::tensor && step.parent >= 0;
    kept_.each(step.object, sort, [&](const memory::Buffer& buffer) {
      // What tapes and traces use of a variable's is the variable's.
      const bool is_variable = buffer.holder == memory::Holder::variable;
      if (is_variable && (sort == Sort::tape || sort == Sort::trace)) return;
      if (!seen_.insert(&buffer).second) return;
      Kept& kept = of_holder_[is_value ? holder_of(step.parent) : own];
      const auto bytes = static_cast<int64_t>(buffer.charged);
      kept.bytes += bytes;
      ++kept.count;
      auto& site = kept.by_site[buffer.site];
      site.first += bytes;
      ++site.second;
      kept.by_group[{buffer.site, buffer.op, static_cast<int>(buffer.holder)}] += bytes;
      if (kept.largest.size() < kMostSamples) kept.largest.push_back({own, &buffer});
    });
  }

  /// An array over a tensor is the value; who refers to the array holds it.
  int32_t holder_of(int32_t step) {
    while (steps_[static_cast<size_t>(step)].parent >= 0 &&
           kept_.sort_of(steps_[static_cast<size_t>(step)].object) == Sort::array) {
      step = steps_[static_cast<size_t>(step)].parent;
    }
    return step;
  }

  std::string place_of(const memory::Site* site) {
    const auto [found, is_new] = places_.try_emplace(site);
    if (is_new) found->second = memory::describe(*site);
    return found->second;
  }

  KeptBuffers kept_;
  std::unordered_map<PyObject*, int32_t> index_;
  std::vector<Step> steps_;
  size_t next_ = 0;
  int32_t at_ = 0;
  std::unordered_set<const memory::Buffer*> seen_;
  std::map<int32_t, Kept> of_holder_;
  std::map<const memory::Site*, std::string> places_;
};

nb::list Walk::answer() {
  nb::list out;
  for (auto& [number, kept] : of_holder_) {
    nb::dict item;
    nb::list path;
    std::vector<int32_t> way;
    for (int32_t at = number; at >= 0; at = steps_[static_cast<size_t>(at)].parent) {
      way.push_back(at);
    }
    std::reverse(way.begin(), way.end());
    for (const int32_t at : way) path.append(nb::borrow(steps_[static_cast<size_t>(at)].object));
    item["root"] = steps_[static_cast<size_t>(number)].root;
    item["path"] = path;
    item["bytes"] = kept.bytes;
    item["count"] = kept.count;
    nb::dict groups;
    for (const auto& [key, bytes] : kept.by_group) {
      const auto& [site, op, holder] = key;
      const nb::tuple name = nb::make_tuple(place_of(site), op ? op : "",
                                            memory::name_of(static_cast<memory::Holder>(holder)));
      const int64_t before = groups.contains(name) ? nb::cast<int64_t>(groups[name]) : 0;
      groups[name] = before + bytes;
    }
    item["groups"] = groups;
    nb::list samples;
    for (const Sample& sample : kept.largest) {
      samples.append(nb::make_tuple(nb::borrow(steps_[static_cast<size_t>(sample.step)].object),
                                    static_cast<int64_t>(sample.buffer->charged),
                                    place_of(sample.buffer->site)));
    }
    item["samples"] = samples;
    out.append(item);
  }
  return out;
}

nb::list walk_holders(nb::list roots, nb::list all) {
  Walk walk;
  walk.from_roots(roots.ptr());
  walk.from_the_rest(all.ptr());
  return walk.answer();
}

nb::list live_groups() {
  nb::list out;
  for (const memory::NamedGroup& g : memory::named_groups()) {
    out.append(nb::make_tuple(g.place, g.op, g.holder, g.bytes, g.count, g.idle));
  }
  return out;
}

}  // namespace

void add_holder_functions(nb::module_& m) {
  m.def("walk_holders", walk_holders, nb::arg("roots"), nb::arg("all"),
        "Which objects keep which buffers: the way from a root to each holder, with bytes.");
  m.def("live_groups", live_groups,
        "Live buffers by place, op and holder: (place, op, holder, bytes, count, idle bytes).");
}

}  // namespace tidemark::python
