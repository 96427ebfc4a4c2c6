#include "profile_module.h"

#include <nanobind/stl/string.h>

#include "tidemark/profile/analysis.h"
#include "tidemark/profile/placement_log.h"
#include "tidemark/profile/reader.h"
#include "tidemark/profile/recorder.h"

#include "errors.h"
#include "op_call.h"
#include "sites.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using profile::EventKind;

constexpr const char* kKindNames[profile::kEventKinds] = {
    "",     "found",   "allocate", "free",  "change", "op",   "step",
    "call", "session", "gradient", "trace", "plan",   "lost", "work"};

EventKind kind_named(const std::string& name) {
  for (int kind = 1; kind < profile::kEventKinds; ++kind) {
    if (name == kKindNames[kind]) return static_cast<EventKind>(kind);
  }
  throw nb::value_error("there is no such kind of event");
}

nb::dict to_dict(const profile::Status& s) {
  nb::dict out;
  out["on"] = s.is_on;
  out["events"] = s.events;
  out["lost"] = s.lost;
  out["path"] = s.path;
  out["error"] = s.error;
  return out;
}

nb::dict stop() {
  profile::Status status;
  {
    const Unlocked released;  // the writer finishes meanwhile
    status = profile::stop();
  }
  return to_dict(status);
}

void mark(const std::string& kind, const std::string& text, uint64_t value) {
  if (!profile::is_recording()) return;
  const SourceLine line;
  profile::mark(kind_named(kind), text, value);
}

template <class T>
nb::list numbers(const std::vector<T>& values) {
  nb::list out;
  for (const T& value : values) out.append(value);
  return out;
}

nb::list to_list(const std::vector<profile::Series>& all) {
  nb::list out;
  for (const profile::Series& s : all) out.append(nb::make_tuple(s.name, numbers(s.bytes)));
  return out;
}

nb::list to_list(const std::vector<profile::GroupUse>& groups) {
  nb::list out;
  for (const profile::GroupUse& g : groups) {
    nb::dict item;
    item["place"] = g.place;
    item["op"] = g.op;
    item["holder"] = g.holder;
    item["live_bytes"] = g.live_bytes;
    item["live_count"] = g.live_count;
    item["peak_bytes"] = g.peak_bytes;
    item["bytes_at_peak"] = g.bytes_at_peak;
    item["count_at_peak"] = g.count_at_peak;
    item["total_count"] = g.total_count;
    item["total_bytes"] = g.total_bytes;
    item["at_samples"] = numbers(g.at_samples);
    out.append(item);
  }
  return out;
}

nb::dict to_dict(const profile::Timeline& t) {
  nb::dict out;
  out["times"] = numbers(t.times);
  out["by_place"] = to_list(t.by_place);
  out["by_holder"] = to_list(t.by_holder);
  out["by_label"] = to_list(t.by_label);
  out["idle"] = numbers(t.idle);
  return out;
}

nb::dict to_dict(const profile::Steps& s) {
  nb::dict out;
  out["how"] = s.how;
  out["place"] = s.place;
  out["count"] = s.count;
  out["samples"] = numbers(s.samples);
  out["times"] = numbers(s.times);
  out["live"] = numbers(s.live);
  out["idle"] = numbers(s.idle);
  out["until"] = s.until;
  nb::dict lines;
  for (const auto& [place, count] : s.lines) lines[place.c_str()] = count;
  out["lines"] = lines;
  return out;
}

void add_lists(nb::dict& out, const profile::Analysis& a) {
  nb::list marks, alive, ops;
  for (const profile::Mark& m : a.marks) {
    marks.append(
        nb::make_tuple(kKindNames[static_cast<int>(m.kind)], m.time, m.text, m.place, m.value));
  }
  for (const profile::LiveUse& l : a.alive) {
    alive.append(nb::make_tuple(l.place, l.op, l.holder, l.bytes, l.since, l.step));
  }
  for (const profile::OpUse& o : a.ops) {
    ops.append(nb::make_tuple(o.op, o.count, o.nanoseconds));
  }
  out["marks"] = marks;
  out["alive"] = alive;
  nb::list work;
  for (const profile::WorkUse& w : a.work) {
    work.append(nb::make_tuple(w.device, w.op, w.place, w.count, w.nanoseconds));
  }
  out["ops"] = ops;
  out["work"] = work;
}

nb::list to_list(const std::vector<profile::PlanMap>& plans) {
  nb::list out;
  for (const profile::PlanMap& plan : plans) {
    nb::dict item;
    nb::list buffers;
    for (const profile::PlanMap::PlacedValue& b : plan.values) {
      buffers.append(nb::make_tuple(b.op, b.place, b.kind, b.bytes, b.offset, b.first, b.last));
    }
    item["name"] = plan.name;
    item["place"] = plan.place;
    item["time"] = plan.time;
    item["arena"] = plan.arena;
    item["results"] = plan.results;
    item["peak"] = plan.peak;
    item["lower_bound"] = plan.lower_bound;
    item["buffers"] = buffers;
    out.append(item);
  }
  return out;
}

nb::dict to_dict(const profile::Analysis& a) {
  nb::dict out, counts;
  out["started"] = a.started;
  out["pid"] = a.pid;
  out["limit"] = a.limit;
  out["whole"] = a.is_whole;
  out["from_ring"] = a.from_ring;
  out["events"] = a.events;
  out["lost"] = a.lost;
  out["duration"] = a.duration;
  for (int kind = 1; kind < profile::kEventKinds; ++kind) {
    if (a.counts[kind]) counts[kKindNames[kind]] = a.counts[kind];
  }
  out["counts"] = counts;
  out["peak"] = a.peak;
  out["peak_time"] = a.peak_time;
  out["live_at_end"] = a.live_at_end;
  out["idle_at_end"] = a.idle_at_end;
  out["groups"] = to_list(a.groups);
  out["timeline"] = to_dict(a.timeline);
  out["steps"] = to_dict(a.steps);
  out["plans"] = to_list(a.plans);
  add_lists(out, a);
  return out;
}

/// All places that a recording names.
nb::list places_of(const std::string& path) {
  nb::list out;
  profile::Reader reader(path);
  reader.skip_events();
  reader.each_name(profile::NameTable::place,
                   [&](uint64_t, const std::string& name) { out.append(name); });
  return out;
}

/// labels: {(place, op, holder): words}, or None; occasional: places that the source runs only now
/// and then. Under "devices" the same of each other device.
nb::dict analyse(const std::string& path, nb::handle labels, nb::handle occasional) {
  profile::AnalysisOptions options;
  if (!occasional.is_none()) {
    for (const nb::handle place : occasional) {
      options.occasional.insert(nb::cast<std::string>(place));
    }
  }
  if (!labels.is_none()) {
    for (const auto& [key, words] : nb::cast<nb::dict>(labels)) {
      const auto text = [&](int i) { return nb::cast<std::string>(nb::object(key[i])); };
      options.labels[{text(0), text(1), text(2)}] = nb::cast<std::string>(words);
    }
  }
  const auto analysed = [&] {
    const Unlocked released;
    return profile::analyse(path, options);
  };
  const profile::Analysis whole = analysed();
  nb::dict out = to_dict(whole), devices;
  for (const std::string& device : whole.devices) {
    options.device = device;
    devices[device.c_str()] = to_dict(analysed());
  }
  out["devices"] = devices;
  return out;
}

/// The events one by one, for exporters: each() calls function(list of tuples) for some at a time.
class Recording {
 public:
  explicit Recording(const std::string& path) : reader_(path) {}

  /// (kind, time, id, value, place, op, holder), or None at the end.
  nb::object next() {
    if (!reader_.next()) return nb::none();
    nb::list out;
    for (const profile::Event& e : reader_.events()) {
      const auto kind = static_cast<int>(e.kind);
      if (kind <= 0 || kind >= profile::kEventKinds) continue;
      out.append(nb::make_tuple(kKindNames[kind], e.time, e.id, e.value, e.place, e.op, e.holder));
    }
    return out;
  }
  std::string place(uint32_t n) const { return reader_.name(profile::NameTable::place, n); }
  std::string op(uint32_t n) const { return reader_.name(profile::NameTable::op, n); }
  std::string text(uint64_t n) const { return reader_.name(profile::NameTable::text, n); }
  /// On which device what was made at a place lies; "": on the CPU.
  std::string device(uint32_t n) const {
    const std::string& told = reader_.name(profile::NameTable::device, n);
    return told.substr(0, told.find(' '));
  }
  const profile::Reader& reader() const { return reader_; }

 private:
  profile::Reader reader_;
};

void start(const std::string& path, uint64_t ring_events) { profile::start({path, ring_events}); }

}  // namespace

void add_profile_functions(nb::module_& m) {
  m.def("recording_start", start, nb::arg("path") = "", nb::arg("ring_events") = 1 << 20,
        "Begins to record into a file, or into a ring in memory.");
  m.def("recording_stop", stop, "Ends the recording; says how it went.");
  m.def("recording_status", [] { return to_dict(profile::status()); });
  m.def("recording_save", profile::save, nb::arg("path"), "Writes the ring down.");
  m.def("is_recording", profile::is_recording);
  m.def("recording_mark", mark, nb::arg("kind"), nb::arg("text") = "", nb::arg("value") = 0,
        "Notes that something happened on the running line, if somebody records.");
  m.def("log_placement", profile::log_placement, nb::arg("on"),
        "Tells on the standard error where ops run, and the steps of new plans.");
  m.def("log_placement_here", profile::log_placement_here, nb::arg("begin"),
        "The same of what this thread runs, until as many calls end it.");
  m.def("recorded_places", places_of, nb::arg("path"));
  m.def("analyse_recording", analyse, nb::arg("path"), nb::arg("labels") = nb::none(),
        nb::arg("occasional") = nb::none());
  nb::class_<Recording>(m, "Recording")
      .def(nb::init<const std::string&>(), nb::arg("path"))
      .def("next", &Recording::next)
      .def("place", &Recording::place)
      .def("op", &Recording::op)
      .def("device", &Recording::device)
      .def("text", &Recording::text)
      .def_prop_ro("started", [](const Recording& r) { return r.reader().header().started; })
      .def_prop_ro("pid", [](const Recording& r) { return r.reader().header().pid; })
      .def_prop_ro("is_whole", [](const Recording& r) { return r.reader().is_whole(); });
}

}  // namespace tidemark::python
