// _tidemark.Group: a group of processes, and collectives on tensors.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include <tidemark/op.h>

#include "tidemark/comm/shared_out.h"
#include "tidemark/comm/steps.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "recorder.h"
#include "sites.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using comm::Group;
using comm::GroupPtr;

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

Reduce reduce_named(const std::string& name) {
  for (const Reduce one : {Reduce::sum, Reduce::product, Reduce::min, Reduce::max}) {
    if (name_of(one) == name) return one;
  }
  fail("there is no reduction \"", name, "\"; there are sum, product, min and max");
}

GroupPtr join(int rank, std::vector<std::string> workers, std::string secret, double join_seconds,
              double silence_seconds, double collective_seconds, bool by_mpi) {
  const GilHeld held;
  return Group::join({rank, std::move(workers), std::move(secret), from_seconds(join_seconds),
                      from_seconds(silence_seconds), from_seconds(collective_seconds),
                      by_mpi ? comm::Carrier::mpi : comm::Carrier::gloo});
}

nb::tuple mpi_world() {
  const GilHeld held;
  const comm::MpiWorld world = comm::mpi_world();
  return nb::make_tuple(world.rank, world.size);
}

std::vector<std::string> share_by_mpi(const std::string& own) {
  const GilHeld held;
  return comm::share_by_mpi(own);
}

nb::list list_of(std::vector<Tensor> tensors) {
  nb::list out;
  for (Tensor& t : tensors) out.append(object_of(std::move(t)));
  return out;
}

nb::list all_reduce(const GroupPtr& group, nb::handle values, const std::string& reduce) {
  const GilHeld held;
  const SourceLine line;
  return list_of(comm::all_reduce(group, tensors_from_list(values.ptr()), reduce_named(reduce)));
}

nb::list reduce(const GroupPtr& group, nb::handle values, std::vector<comm::Parts> parts,
                const std::string& reduce, std::string of) {
  const GilHeld held;
  const SourceLine line;
  return list_of(comm::reduce(group, tensors_from_list(values.ptr()), reduce_named(reduce),
                              std::move(parts), std::move(of)));
}

nb::list gather(const GroupPtr& group, nb::handle values, std::vector<comm::Parts> parts,
                nb::handle shapes, std::string of, uint64_t stands_for) {
  const GilHeld held;
  const SourceLine line;
  std::vector<Shape> whole;
  for (nb::handle shape : nb::list(nb::object(nb::borrow(shapes)))) {
    whole.push_back(shape_from_object(shape.ptr()));
  }
  return list_of(comm::gather(group, tensors_from_list(values.ptr()), std::move(parts),
                              std::move(whole), std::move(of), stands_for));
}

/// The one tensor among the values, which are a list of it alone.
template <class Call>
nb::object with_one(nb::handle values, Call call) {
  const GilHeld held;
  const SourceLine line;
  const std::vector<Tensor> given = tensors_from_list(values.ptr());
  return object_of(call(given.at(0)));
}

using SharedOutPtr = std::shared_ptr<comm::SharedOut>;

SharedOutPtr share_out(const GroupPtr& group, nb::handle part, comm::Parts parts, nb::handle shape,
                       std::string name, uint64_t id) {
  const Variable& variable = variable_of(part.ptr());
  return std::make_shared<comm::SharedOut>(
      comm::SharedOut::Told{group, variable, std::move(parts), shape_from_object(shape.ptr()),
                            std::move(name), id == 0 ? variable.id() : id});
}

/// A scope between two calls of Python's.
template <class Scope, class... Given>
class Between {
 public:
  explicit Between(Given... given) : given_(std::move(given)...) {}
  void enter() {
    scope_ = std::apply([](auto&... given) { return std::make_unique<Scope>(given...); }, given_);
  }
  void exit() { scope_.reset(); }

 private:
  std::tuple<Given...> given_;
  std::unique_ptr<Scope> scope_;
};
using StandIns = Between<comm::SharedOutScope, std::vector<SharedOutPtr>>;
using PartsShown = Between<comm::PartsShown>;

void add_shared_out(nb::module_& m) {
  const auto update = [](const SharedOutPtr& self, nb::handle op, nb::handle values) {
    const GilHeld held;
    const SourceLine line;
    const OpDef* how =
        op.is_none() ? nullptr : &OpRegistry::instance().get(nb::cast<std::string>(op));
    self->update(how, tensors_from_list(values.ptr()), {});
  };
  nb::class_<comm::SharedOut>(m, "SharedOut")
      .def(nb::new_(&share_out), nb::arg("group"), nb::arg("part"), nb::arg("parts"),
           nb::arg("shape"), nb::arg("name"), nb::arg("id") = 0)
      .def("value",
           [](const SharedOutPtr& self) {
             const GilHeld held;
             const SourceLine line;
             return object_of(self->value());
           })
      .def("part_of",
           [](const SharedOutPtr& self, nb::handle whole) {
             const GilHeld held;
             const SourceLine line;
             return object_of(self->part_of(tensor_of(whole.ptr())));
           })
      .def("update", update, nb::arg("op").none(), nb::arg("values"));
  nb::class_<StandIns>(m, "SharedOutScope")
      .def(nb::init<std::vector<SharedOutPtr>>())
      .def("enter", &StandIns::enter)
      .def("exit", &StandIns::exit);
  nb::class_<PartsShown>(m, "PartsShown")
      .def(nb::init<>())
      .def("enter", &PartsShown::enter)
      .def("exit", &PartsShown::exit);
}

nb::list exchange(const GroupPtr& group, nb::bytes own) {
  std::vector<std::string> all;
  {
    const GilHeld held;
    all = group->exchange({own.c_str(), own.size()});
  }
  nb::list out;
  for (const std::string& one : all) out.append(nb::bytes(one.data(), one.size()));
  return out;
}

}  // namespace

void add_comm_functions(nb::module_& m) {
  nb::class_<Group>(m, "Group", nb::is_weak_referenceable())
      .def_prop_ro("rank", &Group::rank)
      .def_prop_ro("size", &Group::size)
      .def_prop_ro("bytes_sent", &Group::bytes_sent)
      .def_prop_ro("times",
                   [](const Group& group) {
                     const comm::GroupTimes times = group.times();
                     const auto seconds = [](std::chrono::nanoseconds time) {
                       return std::chrono::duration<double>(time).count();
                     };
                     return nb::make_tuple(times.collectives, seconds(times.inside),
                                           seconds(times.waiting));
                   })
      .def_prop_ro("seen",
                   [](const Group& group) {
                     nb::list out;
                     for (const comm::Member::Seen& one : group.seen()) {
                       out.append(nb::make_tuple(one.name, one.is_there, one.doing.live,
                                                 one.doing.peak, comm::describe(one.doing)));
                     }
                     return out;
                   })
      .def_prop_ro("scratch_bytes", [](const Group& group) { return group.scratch_bytes(); })
      .def_prop_ro("failure", &Group::failure)
      .def("all_reduce", all_reduce, nb::arg("tensors"), nb::arg("reduce") = "sum")
      .def("reduce", reduce, nb::arg("tensors"), nb::arg("parts"), nb::arg("reduce") = "sum",
           nb::arg("of") = "")
      .def("gather", gather, nb::arg("own"), nb::arg("parts"), nb::arg("shapes"),
           nb::arg("of") = "", nb::arg("stands_for") = 0)
      .def("all_gather",
           [](const GroupPtr& group, nb::handle values) {
             return with_one(values, [&](const Tensor& t) { return comm::all_gather(group, t); });
           })
      .def(
          "reduce_scatter",
          [](const GroupPtr& group, nb::handle values, const std::string& reduce) {
            return with_one(values, [&](const Tensor& t) {
              return comm::reduce_scatter(group, t, reduce_named(reduce));
            });
          },
          nb::arg("tensors"), nb::arg("reduce") = "sum")
      .def("broadcast",
           [](const GroupPtr& group, nb::handle values, int root) {
             return with_one(values,
                             [&](const Tensor& t) { return comm::broadcast(group, t, root); });
           })
      .def("all_to_all",
           [](const GroupPtr& group, nb::handle values) {
             return with_one(values, [&](const Tensor& t) { return comm::all_to_all(group, t); });
           })
      .def("barrier",
           [](const GroupPtr& group) {
             const GilHeld held;
             const SourceLine line;
             comm::barrier(group);
           })
      .def("exchange", exchange, nb::arg("own"))
      .def("give_up",
           [](const GroupPtr& group, const std::string& why) {
             const GilHeld held;
             group->give_up(why);
           })
      .def("leave", [](const GroupPtr& group, double seconds) {
        const GilHeld held;
        group->leave(from_seconds(seconds));
      });
  add_shared_out(m);
  m.def("mpi_world", mpi_world, "(rank, number) of this process among those of mpirun.");
  m.def("share_by_mpi", share_by_mpi, nb::arg("own"), "Everybody's text among them, by rank.");
  m.def("imagined_group", &Group::imagine, nb::arg("rank"), nb::arg("size"),
        "This worker of a group that is not there, to plan for.");
  m.def("join_group", join, nb::arg("rank"), nb::arg("workers"), nb::arg("secret") = "",
        nb::arg("join_seconds") = 0.0, nb::arg("silence_seconds") = 0.0,
        nb::arg("collective_seconds") = 0.0, nb::arg("by_mpi") = false,
        "Joins the processes that have these addresses, by rank. What is not given is as the "
        "settings say.");
}

}  // namespace tidemark::python
