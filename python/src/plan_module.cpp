#include "plan_module.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tidemark/error.h>

#include <chrono>

#include "tidemark/plan/pack/check.h"
#include "tidemark/plan/pack/csv.h"
#include "tidemark/plan/pack/offsets.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

struct Answer {
  plan::BufferTable table;
  plan::Packing packing;
  double seconds = 0;
};

/// The packing, proved by the checker: a wrong one is never handed on.
Answer pack_csv(const std::string& text, const plan::PackOptions& options) {
  Answer answer;
  answer.table = plan::parse_csv(text);
  const auto start = std::chrono::steady_clock::now();
  answer.packing = plan::pack(answer.table.ranges, options);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  answer.seconds = taken.count();
  const auto fault =
      plan::find_fault(answer.table.ranges, answer.packing.offsets, answer.packing.peak);
  if (fault) fail<InternalError>("the planner made a packing that is wrong: ", *fault);
  return answer;
}

nb::dict pack_buffers(const std::string& text, double seconds, int64_t enough, int64_t node_cap) {
  Answer answer;
  {
    nb::gil_scoped_release released;
    answer = pack_csv(text, {.seconds = seconds, .node_cap = node_cap, .enough = enough});
  }
  nb::list buffers;
  for (size_t i = 0; i < answer.table.ranges.size(); ++i) {
    const plan::LiveRange& b = answer.table.ranges[i];
    buffers.append(
        nb::make_tuple(answer.table.ids[i], b.lower, b.upper, b.size, answer.packing.offsets[i]));
  }
  nb::dict out;
  out["peak"] = answer.packing.peak;
  out["lower_bound"] = answer.packing.lower_bound;
  out["proven_bound"] = answer.packing.proven_bound;
  out["nodes"] = answer.packing.nodes;
  out["seconds"] = answer.seconds;
  out["buffers"] = buffers;
  return out;
}

}  // namespace

void add_plan_functions(nb::module_& m) {
  m.def("pack_buffers", pack_buffers, nb::arg("csv"), nb::arg("seconds") = 10.0,
        nb::arg("enough") = 0, nb::arg("node_cap") = std::numeric_limits<int64_t>::max(),
        "Packs a list of buffers (id,lower,upper,size as CSV). buffers: (id, lower, upper, size, "
        "offset) of each.");
}

}  // namespace tidemark::python
