#include "tidemark/kernels/cpu/fusion/schedule.h"

#include <algorithm>

#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::fusion {

namespace {

/// Computing a value again costs less than writing and reading it.
constexpr int kCheap = 3;

class Scheduler {
 public:
  explicit Scheduler(const FusedProgram& program) : p_(program) {
    find_passes();
    find_needs();
  }

  Schedule run() {
    const auto passes = static_cast<size_t>(last_pass_) + 1;
    result_.passes.resize(passes);
    slot_.assign(p_.code.size(), -1);
    for (size_t pass = 0; pass < passes; ++pass) fill(static_cast<int>(pass));
    return std::move(result_);
  }

 private:
  const Instruction& at(Value v) const { return p_.code[v]; }
  bool is_row(Value v) const { return at(v).level == Level::row; }

  /// pass_[v]: the earliest pass over the elements in which v can be had; of a row's value, the
  /// pass before which it is computed.
  void find_passes() {
    pass_.assign(p_.code.size(), 0);
    for (Value v = 0; v < p_.code.size(); ++v) {
      int pass = 0;
      for (int a = 0; a < at(v).arity; ++a) pass = std::max(pass, pass_[at(v).args[a]]);
      pass_[v] = at(v).code == Code::reduce ? pass + 1 : pass;
      last_pass_ = std::max(last_pass_, pass_[v]);
    }
  }

  /// Dead instructions take no part.
  void find_needs() {
    needed_.assign(p_.code.size(), false);
    for (const Output& o : p_.outputs) needed_[o.value] = true;
    for (size_t v = p_.code.size(); v-- > 0;) {
      if (!needed_[v]) continue;
      for (int a = 0; a < p_.code[v].arity; ++a) needed_[p_.code[v].args[a]] = true;
    }
  }

  void fill(int pass) {
    Pass& out = result_.passes[static_cast<size_t>(pass)];
    here_.assign(p_.code.size(), false);
    for (Value v = 0; v < p_.code.size(); ++v) {
      if (!needed_[v] || !is_row(v) || pass_[v] != pass) continue;
      // A reduction's result is there when its pass ends.
      if (at(v).code != Code::reduce) out.once.push_back({PassStep::Kind::compute, v});
      for (size_t o = 0; o < p_.outputs.size(); ++o) {
        if (p_.outputs[o].value == v) {
          out.once.push_back({PassStep::Kind::store, v, static_cast<uint16_t>(o)});
        }
      }
    }
    for (Value v = 0; v < p_.code.size(); ++v) {
      if (!needed_[v]) continue;
      if (at(v).code == Code::reduce && pass_[v] == pass + 1) {
        bring(at(v).args[0], pass, out);
        out.elements.push_back({PassStep::Kind::reduce, v});
      } else if (at(v).code == Code::collect) {
        if (pass_[v] != pass) continue;
        bring(at(v).args[0], pass, out);
        out.elements.push_back(
            {PassStep::Kind::collect, v, static_cast<uint16_t>(result_.columns.size())});
        result_.columns.push_back(v);
      } else if (!is_row(v) && pass_[v] == pass) {
        store_outputs(v, pass, out);
      }
    }
  }

  void store_outputs(Value v, int pass, Pass& out) {
    for (size_t o = 0; o < p_.outputs.size(); ++o) {
      if (p_.outputs[o].value != v) continue;
      bring(v, pass, out);
      out.elements.push_back({PassStep::Kind::store, v, static_cast<uint16_t>(o)});
    }
  }

  /// Makes v available among the elements of this pass.
  void bring(Value v, int pass, Pass& out) {
    if (here_[v] || is_row(v)) return;
    here_[v] = true;
    if (slot_[v] >= 0) {
      out.elements.push_back({PassStep::Kind::restore, v, static_cast<uint16_t>(slot_[v])});
      return;
    }
    for (int a = 0; a < at(v).arity; ++a) bring(at(v).args[a], pass, out);
    out.elements.push_back({PassStep::Kind::compute, v});
    if (pass_[v] == pass && is_used_later(v, pass) && cost(v) > kCheap) keep(v, out);
  }

  void keep(Value v, Pass& out) {
    slot_[v] = static_cast<int>(result_.kept.size());
    result_.kept.push_back(computed_in(at(v).dtype));
    out.elements.push_back({PassStep::Kind::keep, v, static_cast<uint16_t>(slot_[v])});
  }

  bool is_used_later(Value v, int pass) const {
    for (Value u = v + 1; u < p_.code.size(); ++u) {
      if (!needed_[u]) continue;
      const int runs_in = at(u).code == Code::reduce ? pass_[u] - 1 : pass_[u];
      if (runs_in <= pass || is_row(u) != (at(u).code == Code::reduce)) continue;
      if (std::find(at(u).args.begin(), at(u).args.begin() + at(u).arity, v) !=
          at(u).args.begin() + at(u).arity) {
        return true;
      }
    }
    return false;
  }

  /// Instructions to get v from inputs, where functions count many times.
  int cost(Value v) const {
    const Instruction& i = at(v);
    if (is_row(v) || i.code == Code::load || i.code == Code::constant || slot_[v] >= 0) return 0;
    // The stream of random numbers is laid out before the row runs.
    if (i.code == Code::random) return 0;
    int sum = 1;
    if (i.code == Code::map) {
      const cpu::ElementwiseLoop* loop = cpu::loop_for(i.op->name(), at(i.args[0]).dtype);
      if (loop && loop->heavy) sum += 8;
    }
    for (int a = 0; a < i.arity && sum <= kCheap; ++a) sum += cost(i.args[a]);
    return sum;
  }

  const FusedProgram& p_;
  std::vector<int> pass_, slot_;
  std::vector<bool> needed_, here_;
  int last_pass_ = 0;
  Schedule result_;
};

}  // namespace

bool Schedule::is_one_reduction(const FusedProgram& program) const {
  if (passes.size() != 2 || !passes[1].elements.empty()) return false;
  return std::all_of(program.outputs.begin(), program.outputs.end(),
                     [&](const Output& o) { return program.code[o.value].level == Level::row; });
}

Schedule schedule(const FusedProgram& program) { return Scheduler(program).run(); }

}  // namespace tidemark::fusion
