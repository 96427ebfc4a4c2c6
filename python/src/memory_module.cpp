#include "memory_module.h"

#include <nanobind/stl/string.h>
#include <tidemark/memory.h>

#include <memory>

#include "frontend.h"
#include "sites.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

nb::dict stats() {
  const memory::Stats s = memory::stats();
  nb::dict out;
  out["live"] = s.live;
  out["planned"] = s.planned;
  out["retained"] = s.retained;
  out["not_ours"] = s.not_ours;
  out["untouched"] = s.untouched;
  out["resident"] = s.resident;
  out["tensor_bytes"] = s.tensor_bytes;
  out["tensor_peak"] = s.tensor_peak;
  out["borrowed"] = s.borrowed;
  out["peak"] = s.peak;
  out["live_buffers"] = s.live_buffers;
  out["allocations"] = s.allocations;
  out["limit"] = s.limit;
  out["retained_limit"] = s.retained_limit;
  return out;
}

nb::list live_buffers() {
  nb::list out;
  for (const memory::LiveBuffer& b : memory::live_buffers()) {
    nb::dict item;
    item["place"] = b.place;
    item["op"] = b.op;
    item["holder"] = b.holder;
    item["dtype"] = nb::steal(dtype_object(b.dtype));
    item["shape"] = nb::steal(shape_tuple(b.shape));
    item["bytes"] = b.bytes;
    out.append(item);
  }
  return out;
}

nb::list places() {
  nb::list out;
  for (const memory::PlaceUse& p : memory::places()) {
    nb::dict item;
    item["place"] = p.place;
    item["op"] = p.op;
    item["live_bytes"] = p.live_bytes;
    item["peak_bytes"] = p.peak_bytes;
    item["bytes_at_process_peak"] = p.bytes_at_process_peak;
    item["live_count"] = p.live_count;
    item["total_count"] = p.total_count;
    out.append(item);
  }
  return out;
}

nb::list holders() {
  nb::list out;
  for (const memory::HolderUse& h : memory::holders()) {
    nb::dict item;
    item["holder"] = h.holder;
    item["live_bytes"] = h.live_bytes;
    item["peak_bytes"] = h.peak_bytes;
    item["live_count"] = h.live_count;
    item["total_count"] = h.total_count;
    out.append(item);
  }
  return out;
}

/// memory::LimitScope as a context manager. Scopes of a thread nest, so the object refuses to be
/// entered twice.
class LimitScope {
 public:
  LimitScope(int64_t bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  LimitScope& enter() {
    if (scope_) throw nb::value_error("this limit scope is already in use");
    scope_ = std::make_unique<memory::LimitScope>(bytes_, name_);
    return *this;
  }
  void exit(nb::args) { scope_.reset(); }
  int64_t used() const { return scope_ ? scope_->used() : 0; }

 private:
  int64_t bytes_;
  std::string name_;
  std::unique_ptr<memory::LimitScope> scope_;
};

}  // namespace

void add_memory_functions(nb::module_& m) {
  m.def("stats", stats, "Bytes by use; live + planned + retained + not_ours == resident.");
  m.def(
      "set_limit", [](int64_t bytes) { return memory::set_limit(bytes); }, nb::arg("bytes"),
      "Limits the process's tensor memory. Returns the old limit.");
  m.def("limit", memory::limit, "The process's limit in bytes.");
  m.def("set_retained_limit", memory::set_retained_limit, nb::arg("bytes"),
        "How many free bytes may be kept for the next request. Returns the old value.");
  m.def(
      "release_retained", [] { return memory::release_retained(); },
      "Gives free memory back to the system; returns how many bytes that was.");
  m.def(
      "reset_peak", [] { return memory::reset_peak(); }, "Forgets the peak so far; returns it.");
  m.def("report", memory::report, "A table of places, ops, shapes, holders and bytes.");
  m.def("live_buffers", live_buffers, "The live buffers as dicts, largest first.");
  m.def("places", places, "Places with live bytes or bytes at the peak, largest first.");
  m.def("holders", holders, "Bytes by what holds them.");
  nb::class_<LimitScope>(m, "LimitScope", "A limit for what this thread allocates inside.")
      .def(nb::init<int64_t, std::string>(), nb::arg("bytes"), nb::arg("name") = "limit scope")
      .def("__enter__", &LimitScope::enter, nb::rv_policy::reference)
      .def("__exit__", &LimitScope::exit)
      .def_prop_ro("used", &LimitScope::used, "Bytes allocated inside that are still alive.");
}

}  // namespace tidemark::python
