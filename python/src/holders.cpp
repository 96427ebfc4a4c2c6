#include "holders.h"

#include <frameobject.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tidemark/memory/runs.h"
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

struct Reached {
  PyObject* object;  // counted
  int32_t parent;    // -1: a root
  int32_t root;      // its number, kGarbage or kStack
};

struct Sample {
  int32_t reached;  // the tensor's own
  const memory::Buffer* buffer;
};

/// What one object keeps directly.
struct Kept {
  int64_t bytes = 0;
  int64_t count = 0;
  std::map<const memory::Site*, std::pair<int64_t, int64_t>> by_site;
  struct Bytes {
    int64_t charged = 0;
    int64_t requested = 0;  // by the program: without header and rounding
  };
  std::map<std::tuple<const memory::Site*, const char*, int>, Bytes> by_group;
  std::vector<Sample> largest;
};

constexpr size_t kMostSamples = 64;
// Of a way: what stands in the middle of a longer one (a list of links) is left out.
constexpr size_t kMostOfAnEnd = 24;

/// The key under which a dict has a value; null: under none, or a key that is no text.
PyObject* key_in(PyObject* dict, PyObject* value) {
  Py_ssize_t at = 0;
  PyObject *key = nullptr, *found = nullptr;
  while (PyDict_Next(dict, &at, &key, &found)) {
    if (found == value) return PyUnicode_CheckExact(key) ? key : nullptr;
  }
  return nullptr;
}

/// The name of a slot (`__slots__`) of an object that has this value; null: none.
const char* slot_with(PyObject* object, PyObject* value) {
  PyObject* order = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t i = 0; order && i < PyTuple_GET_SIZE(order); ++i) {
    PyObject* type = PyTuple_GET_ITEM(order, i);
    if (!PyType_Check(type)) continue;
    PyMemberDef* member = reinterpret_cast<PyTypeObject*>(type)->tp_members;
    for (; member && member->name; ++member) {
      if (member->type != T_OBJECT_EX && member->type != T_OBJECT) continue;
      PyObject* const* slot =
          reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
      if (*slot == value) return member->name;
    }
  }
  return nullptr;
}

/// The name by which one object refers to another: a key, an attribute; None. Asked at the moment
/// of the walk, for the program may go on before the answer is put into words.
nb::object edge_name(PyObject* parent, PyObject* child) {
  if (PyDict_Check(parent)) {
    PyObject* key = key_in(parent, child);
    return key ? nb::object(nb::borrow(key)) : nb::none();
  }
  if (PyList_Check(parent) || PyTuple_Check(parent) || PyAnySet_Check(parent) ||
      PyFrame_Check(parent) || PyCell_Check(parent) || PyFunction_Check(parent)) {
    return nb::none();
  }
  if (PyType_Check(parent)) {
    PyObject* names = reinterpret_cast<PyTypeObject*>(parent)->tp_dict;
    PyObject* key = names ? key_in(names, child) : nullptr;
    return key ? nb::object(nb::borrow(key)) : nb::none();
  }
  if (const char* slot = slot_with(parent, child)) return nb::str(slot);
  const Ref dict = Ref::steal(PyObject_GenericGetDict(parent, nullptr));
  if (!dict) {
    PyErr_Clear();
    return nb::none();
  }
  PyObject* key = PyDict_Check(dict.get()) ? key_in(dict.get(), child) : nullptr;
  return key ? nb::object(nb::borrow(key)) : nb::none();
}

void add_to(nb::dict& sums, const nb::tuple& key, int64_t value) {
  const int64_t before = sums.contains(key) ? nb::cast<int64_t>(sums[key]) : 0;
  sums[key] = before + value;
}

/// A walk over all objects that can be reached from some, nearest first. No Python code runs.
class Walk {
 public:
  ~Walk() {
    for (const Reached& found : reached_) Py_DECREF(found.object);
  }

  explicit Walk(PyObject* owner_types) : owner_types_(owner_types) {}

  /// The first `nearest` roots are the program's own: what they lead to is told from there, however
  /// much shorter a way from a library would be. The other roots are no part of their ways.
  void from_roots(PyObject* roots, Py_ssize_t nearest) {
    const Py_ssize_t all = PyList_GET_SIZE(roots);
    for (Py_ssize_t i = nearest; i < all; ++i) later_.insert(PyList_GET_ITEM(roots, i));
    for (Py_ssize_t i = 0; i < nearest; ++i) add_root(roots, i);
    spread();
    later_.clear();
    for (Py_ssize_t i = nearest; i < all; ++i) add_root(roots, i);
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

  /// What was reached, by who keeps it.
  nb::list answer();
  /// What was not: only the ledger and the runs that go on know of it.
  nb::list unclaimed();
  /// The objects of the owners' types, by what refers to them.
  nb::list owners();

 private:
  void add_root(PyObject* roots, Py_ssize_t i) {
    add(PyList_GET_ITEM(roots, i), -1, static_cast<int32_t>(i));
  }

  void add(PyObject* object, int32_t parent, int32_t root) {
    if (later_.contains(object)) return;
    if (!index_.try_emplace(object, static_cast<int32_t>(reached_.size())).second) return;
    Py_INCREF(object);
    reached_.push_back({object, parent, root});
  }

  void spread() {
    for (; next_ < reached_.size(); ++next_) {
      const Reached found = reached_[next_];
      const Sort sort = kept_.sort_of(found.object);
      at_ = static_cast<int32_t>(next_);
      if (sort == Sort::array) {
        if (PyObject* base = KeptBuffers::base_of(found.object)) add(base, at_, found.root);
        add_items(found);
        continue;
      }
      if (sort != Sort::other) note(found, sort);
      PyTypeObject* type = Py_TYPE(found.object);
      if (is_owner(type)) owners_[{found.parent, type}].push_back(at_);
      if (!type->tp_traverse || !PyObject_IS_GC(found.object)) continue;
      type->tp_traverse(
          found.object,
          [](PyObject* child, void* arg) {
            auto* walk = static_cast<Walk*>(arg);
            if (child && is_interesting(child)) {
              walk->add(child, walk->at_, walk->reached_[static_cast<size_t>(walk->at_)].root);
            }
            return 0;
          },
          this);
    }
  }

  /// Of an array of objects, which the collector does not look into.
  void add_items(const Reached& array) {
    const Ref items = Ref::steal(KeptBuffers::items_of(array.object));
    if (!items) return;
    arrays_of_objects_.insert(at_);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
      PyObject* item = PyList_GET_ITEM(items.get(), i);
      if (is_interesting(item)) add(item, at_, array.root);
    }
  }

  /// Most objects are text and numbers.
  static bool is_interesting(PyObject* object) {
    return !PyUnicode_CheckExact(object) && !PyLong_CheckExact(object) &&
           !PyFloat_CheckExact(object) && !PyBytes_CheckExact(object) && !PyCode_Check(object);
  }

  bool is_owner(PyTypeObject* type) {
    const auto [known, is_new] = is_owner_.try_emplace(type, false);
    for (Py_ssize_t i = 0; is_new && i < PyTuple_GET_SIZE(owner_types_); ++i) {
      auto* owner = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(owner_types_, i));
      known->second = known->second || PyType_IsSubtype(type, owner);
    }
    return known->second;
  }

  /// The way from a root to what was reached, and by which name each object refers to the next.
  void tell_way(int32_t number, nb::dict& to);

  void note(const Reached& found, Sort sort) {
    const int32_t own = at_;
    // A tensor is kept by what refers to it; what has buffers of its own keeps them itself.
    const bool is_value = sort == Sort::tensor && found.parent >= 0;
    kept_.each(found.object, sort, [&](const memory::Buffer& buffer) {
      // What tapes and traces use of a variable's is the variable's.
      const bool is_variable = buffer.holder == memory::Holder::variable;
      if (is_variable && (sort == Sort::tape || sort == Sort::trace)) return;
      if (!seen_.insert(&buffer).second) return;
      Kept& kept = of_holder_[is_value ? holder_of(found.parent) : own];
      const auto bytes = static_cast<int64_t>(buffer.charged);
      kept.bytes += bytes;
      ++kept.count;
      auto& site = kept.by_site[buffer.site];
      site.first += bytes;
      ++site.second;
      Kept::Bytes& group = kept.by_group[{buffer.site, buffer.op, static_cast<int>(buffer.holder)}];
      group.charged += bytes;
      group.requested += static_cast<int64_t>(buffer.bytes);
      if (kept.largest.size() < kMostSamples) kept.largest.push_back({own, &buffer});
    });
  }

  /// An array over a tensor is the value; who refers to the array holds it.
  int32_t holder_of(int32_t found) {
    if (arrays_of_objects_.contains(found)) return found;
    while (reached_[static_cast<size_t>(found)].parent >= 0 &&
           kept_.sort_of(reached_[static_cast<size_t>(found)].object) == Sort::array) {
      found = reached_[static_cast<size_t>(found)].parent;
    }
    return found;
  }

  std::string place_of(const memory::Site* site) {
    const auto [found, is_new] = places_.try_emplace(site);
    if (is_new) found->second = memory::describe(*site);
    return found->second;
  }

  KeptBuffers kept_;
  std::unordered_map<PyObject*, int32_t> index_;
  std::vector<Reached> reached_;
  size_t next_ = 0;
  int32_t at_ = 0;
  std::unordered_set<const memory::Buffer*> seen_;
  std::map<int32_t, Kept> of_holder_;
  PyObject* owner_types_;  // a tuple of types that the caller keeps
  std::unordered_map<PyTypeObject*, bool> is_owner_;
  std::map<std::pair<int32_t, PyTypeObject*>, std::vector<int32_t>> owners_;
  std::unordered_set<PyObject*> later_;  // roots whose turn has not come
  std::unordered_set<int32_t> arrays_of_objects_;
  std::map<const memory::Site*, std::string> places_;
};

void Walk::tell_way(int32_t number, nb::dict& to) {
  std::vector<int32_t> way;
  for (int32_t at = number; at >= 0; at = reached_[static_cast<size_t>(at)].parent) {
    way.push_back(at);
  }
  std::reverse(way.begin(), way.end());
  to["left_out"] = way.size() - std::min(way.size(), 2 * kMostOfAnEnd);
  if (way.size() > 2 * kMostOfAnEnd) {
    way.erase(way.begin() + kMostOfAnEnd, way.end() - kMostOfAnEnd);
  }
  nb::list path, edges;
  for (size_t i = 0; i < way.size(); ++i) {
    PyObject* object = reached_[static_cast<size_t>(way[i])].object;
    path.append(nb::borrow(object));
    if (i > 0) {
      edges.append(edge_name(reached_[static_cast<size_t>(way[i - 1])].object, object));
    }
  }
  to["path"] = path;
  to["edges"] = edges;
  to["root"] = reached_[static_cast<size_t>(number)].root;
}

nb::list Walk::owners() {
  nb::list out;
  for (const auto& [key, all] : owners_) {
    nb::dict item;
    tell_way(all.front(), item);
    item["count"] = all.size();
    out.append(item);
  }
  return out;
}

nb::list Walk::answer() {
  nb::list out;
  for (auto& [number, kept] : of_holder_) {
    nb::dict item;
    tell_way(number, item);
    item["bytes"] = kept.bytes;
    item["count"] = kept.count;
    nb::dict groups, requested;
    for (const auto& [key, bytes] : kept.by_group) {
      const auto& [site, op, holder] = key;
      const nb::tuple name = nb::make_tuple(place_of(site), op ? op : "",
                                            memory::name_of(static_cast<memory::Holder>(holder)));
      add_to(groups, name, bytes.charged);
      add_to(requested, name, bytes.requested);
    }
    item["groups"] = groups;
    item["requested"] = requested;
    nb::list samples;
    for (const Sample& sample : kept.largest) {
      PyObject* object = reached_[static_cast<size_t>(sample.reached)].object;
      samples.append(
          nb::make_tuple(nb::borrow(object), static_cast<int64_t>(sample.buffer->charged),
                         place_of(sample.buffer->site),
                         edge_name(reached_[static_cast<size_t>(number)].object, object)));
    }
    item["samples"] = samples;
    out.append(item);
  }
  return out;
}

nb::list Walk::unclaimed() {
  std::map<uint32_t, memory::RunSeen> runs;
  for (const memory::RunSeen& run : memory::latest_runs()) runs[run.number] = run;
  nb::list out;
  for (const memory::Unclaimed& u : memory::collect_unclaimed(seen_)) {
    const auto run = runs.find(u.run);
    const bool is_known = u.run != 0 && run != runs.end();
    const memory::Site* asked = is_known ? run->second.site : nullptr;
    out.append(nb::make_tuple(place_of(u.site), u.op ? u.op : "", memory::name_of(u.holder),
                              u.bytes, u.count, u.idle, is_known ? run->second.name : "",
                              asked ? place_of(asked) : std::string(),
                              is_known && run->second.goes_on, u.requested));
  }
  return out;
}

/// The three together are of one moment: Python code runs only afterwards.
nb::tuple walk_holders(nb::list roots, Py_ssize_t nearest, nb::list all, nb::tuple owner_types) {
  Walk walk(owner_types.ptr());
  walk.from_roots(roots.ptr(), nearest);
  walk.from_the_rest(all.ptr());
  nb::list unclaimed = walk.unclaimed();
  return nb::make_tuple(walk.answer(), unclaimed, walk.owners());
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
  m.def("walk_holders", walk_holders, nb::arg("roots"), nb::arg("nearest"), nb::arg("all"),
        nb::arg("owner_types"),
        "(which objects keep which buffers: the way from a root to each holder, with bytes; "
        "the live buffers that none keeps, with the run that has them; the ways to objects of the "
        "owners' types, by what refers to them). The first roots, `nearest`, come before others.");
  m.def("live_groups", live_groups,
        "Live buffers by place, op and holder: (place, op, holder, bytes, count, idle bytes).");
}

}  // namespace tidemark::python
