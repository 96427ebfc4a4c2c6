#include "tidemark/plan/order/check_reads.h"

#include <tidemark/error.h>

#include <algorithm>
#include <map>

namespace tidemark::plan {

namespace {

struct Bytes {
  int64_t begin;
  int64_t end;
  bool overlaps(const Bytes& other) const { return begin < other.end && other.begin < end; }
};

constexpr int kRubbish = -2;

/// Who wrote each byte last, as pieces that do not overlap.
class Memory {
 public:
  void write(Bytes bytes, int writer) {
    if (bytes.begin == bytes.end) return;
    cut(bytes.begin);
    cut(bytes.end);
    pieces_.erase(pieces_.lower_bound(bytes.begin), pieces_.lower_bound(bytes.end));
    pieces_[bytes.begin] = {bytes.end, writer};
  }

  bool holds(Bytes bytes, int writer) const {
    int64_t at = bytes.begin;
    while (at < bytes.end) {
      auto piece = pieces_.upper_bound(at);
      if (piece == pieces_.begin()) return false;
      --piece;
      if (piece->second.writer != writer || piece->second.end <= at) return false;
      at = piece->second.end;
    }
    return true;
  }

 private:
  struct Piece {
    int64_t end;
    int writer;
  };

  /// Makes a piece that spans this offset two.
  void cut(int64_t at) {
    auto piece = pieces_.upper_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->first == at || piece->second.end <= at) return;
    pieces_[at] = piece->second;
    piece->second.end = at;
  }

  std::map<int64_t, Piece> pieces_;
};

class Run {
 public:
  Run(const Problem& problem, const Placement& placement)
      : problem_(problem), placement_(placement) {
    for (size_t i = 0; i < problem.values.size(); ++i) {
      int origin = static_cast<int>(i);
      while (problem.values[origin].view_of != kNone) origin = problem.values[origin].view_of;
      origin_.push_back(origin);
    }
  }

  std::optional<std::string> run(std::span<const int> order) {
    write_what_is_there();
    for (const int op : order) {
      if (auto fault = run_op(op)) return fault;
    }
    for (size_t i = 0; i < problem_.values.size(); ++i) {
      if (problem_.values[i].kept && !intact(static_cast<int>(i))) {
        return message("the value ", i, " is to be kept, but is written over at the end");
      }
    }
    return std::nullopt;
  }

 private:
  bool is_external(int value) const {
    return problem_.values[value].external || problem_.values[origin_[value]].external;
  }
  Bytes bytes(int value) const {
    const int64_t begin = placement_.value_offsets[value];
    return {begin, begin + problem_.values[value].bytes};
  }
  bool intact(int value) const {
    return is_external(value) || memory_.holds(bytes(value), origin_[value]);
  }

  void write_what_is_there() {
    std::vector<char> written(problem_.values.size(), 0);
    std::vector<char> used(problem_.values.size(), 0);
    for (const Op& op : problem_.ops) {
      for (const int value : op.outputs) written[value] = 1;
      for (const int value : op.inputs) used[origin_[value]] = 1;
      for (const int value : op.outputs) used[origin_[value]] = 1;
    }
    for (size_t i = 0; i < written.size(); ++i) {
      const bool needed = used[i] || problem_.values[i].kept;
      const int value = static_cast<int>(i);
      if (origin_[i] != value || written[i] || !needed || is_external(value)) continue;
      memory_.write(bytes(value), value);
    }
  }

  std::optional<std::string> run_op(int index) {
    const Op& op = problem_.ops[index];
    for (const int input : op.inputs) {
      if (!intact(input)) return message("op ", index, " reads the value ", input, ", overwritten");
    }
    const int64_t scratch_begin = op.workspace > 0 ? placement_.workspace_offsets[index] : 0;
    const Bytes scratch{scratch_begin, scratch_begin + op.workspace};
    std::vector<int> touched = op.inputs;
    touched.insert(touched.end(), op.outputs.begin(), op.outputs.end());
    for (const int value : touched) {
      if (!is_external(value) && bytes(value).overlaps(scratch)) {
        return message("the workspace of op ", index, " lies on its value ", value);
      }
    }
    for (const int output : op.outputs) {
      if (origin_[output] != output || is_external(output)) continue;
      if (auto fault = output_fault(index, output)) return fault;
    }
    memory_.write(scratch, kRubbish);
    for (const int output : op.outputs) {
      if (origin_[output] != output || is_external(output)) continue;
      memory_.write(bytes(output), output);
    }
    for (const int output : op.outputs) {
      if (!intact(output)) {
        return message("the view ", output, " of op ", index, " shows bytes of something else");
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> output_fault(int index, int output) const {
    const Op& op = problem_.ops[index];
    for (const int input : op.inputs) {
      if (is_external(input) || !bytes(output).overlaps(bytes(input))) continue;
      const bool may = std::any_of(op.in_place.begin(), op.in_place.end(), [&](const auto& pair) {
        return pair.first == output && origin_[pair.second] == origin_[input];
      });
      if (!may || bytes(output).begin != bytes(input).begin) {
        return message("op ", index, " writes ", output, " on top of its input ", input);
      }
    }
    return std::nullopt;
  }

  const Problem& problem_;
  const Placement& placement_;
  std::vector<int> origin_;
  Memory memory_;
};

}  // namespace

std::optional<std::string> find_stale_read(const Problem& problem, std::span<const int> order,
                                           const Placement& placement) {
  return Run(problem, placement).run(order);
}

}  // namespace tidemark::plan
