#include "tidemark/plan/order/problem.h"

#include <tidemark/error.h>

#include <algorithm>
#include <limits>

namespace tidemark::plan {

namespace {

class Finder {
 public:
  explicit Finder(const Problem& problem) : problem_(problem) {}

  Storages find() {
    check_indices();
    find_roots();
    find_writers();
    for (size_t i = 0; i < problem_.ops.size(); ++i) add_op(static_cast<int>(i));
    join_order();
    return std::move(out_);
  }

 private:
  void check_value(int value, size_t op) const {
    if (value < 0 || value >= static_cast<int>(problem_.values.size())) {
      fail("op ", op, " names the value ", value, "; there are ", problem_.values.size());
    }
  }

  void check_indices() const {
    int64_t total = 0;
    const auto count = [&](int64_t bytes, const char* what, size_t index) {
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
      if (bytes < 0 || bytes > kMost - total) {
        fail(what, " ", index, " has ", bytes, " bytes; allowed is from 0 to ", kMost,
             " for all together");
      }
      total += bytes;
    };
    const int values = static_cast<int>(problem_.values.size());
    for (size_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      count(value.bytes, "value", i);
      if (value.view_of < kNone || value.view_of >= values) {
        fail("value ", i, " is a view of ", value.view_of, "; there are ", values, " values");
      }
    }
    for (size_t i = 0; i < problem_.ops.size(); ++i) {
      const Op& op = problem_.ops[i];
      count(op.workspace, "the workspace of op", i);
      for (const int value : op.inputs) check_value(value, i);
      for (const int value : op.outputs) check_value(value, i);
      for (const auto& [output, input] : op.in_place) {
        check_value(output, i);
        check_value(input, i);
      }
      for (const int earlier : op.after) {
        if (earlier < 0 || earlier >= static_cast<int>(i)) {
          fail("op ", i, " must run after op ", earlier, ", which does not come before it");
        }
      }
    }
  }

  /// A value that is no view opens a storage; views join that of what they look at.
  void find_roots() {
    const size_t count = problem_.values.size();
    out_.of_value.assign(count, kNone);
    for (size_t i = 0; i < count; ++i) {
      int root = static_cast<int>(i);
      for (size_t steps = 0; problem_.values[root].view_of != kNone; ++steps) {
        if (steps > count) fail("value ", i, " is a view of itself, through others");
        root = problem_.values[root].view_of;
      }
      if (out_.of_value[root] == kNone) {
        out_.of_value[root] = static_cast<int>(out_.all.size());
        out_.all.emplace_back();
      }
      out_.of_value[i] = out_.of_value[root];
      Storage& storage = out_.all[out_.of_value[root]];
      storage.bytes = std::max(storage.bytes, problem_.values[i].bytes);
      storage.kept |= problem_.values[i].kept;
      storage.external |= problem_.values[i].external;
    }
    for (Storage& storage : out_.all) {
      if (storage.external) storage.bytes = 0;
    }
  }

  void find_writers() {
    writer_.assign(problem_.values.size(), kNone);
    for (size_t i = 0; i < problem_.ops.size(); ++i) {
      for (const int value : problem_.ops[i].outputs) {
        if (writer_[value] != kNone) {
          fail("the value ", value, " is an output of op ", writer_[value], " and of op ", i);
        }
        writer_[value] = static_cast<int>(i);
        Storage& storage = out_.all[out_.of_value[value]];
        if (problem_.values[value].view_of == kNone) storage.creator = static_cast<int>(i);
      }
    }
  }

  void add_op(int index) {
    const Op& op = problem_.ops[index];
    Storages::Use use;
    std::vector<int> before = op.after;
    const auto uses = [&](int value) {
      const int storage = out_.of_value[value];
      const int creator = out_.all[storage].creator;
      if (creator == index) return;
      if (creator != kNone) before.push_back(creator);
      use.reads.push_back(storage);
    };
    for (const int value : op.inputs) {
      if (writer_[value] >= index) {
        fail("op ", index, " reads the value ", value, " before op ", writer_[value],
             " has written it");
      }
      if (writer_[value] != kNone) before.push_back(writer_[value]);
      uses(value);
    }
    for (const int value : op.outputs) {
      if (problem_.values[value].view_of == kNone) {
        use.creates.push_back(out_.of_value[value]);
        continue;
      }
      if (out_.all[out_.of_value[value]].creator > index) {
        fail("op ", index, " makes a view, ", value, ", of a value that is not written yet");
      }
      uses(value);
    }
    sort_unique(use.reads);
    sort_unique(before);
    for (const int storage : use.reads) out_.all[storage].users.push_back(index);
    use.takeovers = takeovers(op, use);
    out_.of_op.push_back(std::move(use));
    out_.before.push_back(std::move(before));
  }

  /// Only between storages of one size, so that what is alive follows from which ops have run.
  std::vector<std::pair<int, int>> takeovers(const Op& op, const Storages::Use& use) const {
    std::vector<std::pair<int, int>> pairs;
    for (const auto& [output, input] : op.in_place) {
      const int created = out_.of_value[output];
      const int read = out_.of_value[input];
      const bool fits = std::count(use.creates.begin(), use.creates.end(), created) > 0 &&
                        std::count(use.reads.begin(), use.reads.end(), read) > 0;
      // An op that also shows these bytes as a view cannot write over them.
      const bool shown = std::any_of(op.outputs.begin(), op.outputs.end(), [&](int value) {
        return value != output && out_.of_value[value] == read;
      });
      const Storage& from = out_.all[read];
      if (fits && !shown && from.bytes == out_.all[created].bytes && from.bytes > 0 && !from.kept) {
        pairs.emplace_back(created, read);
      }
    }
    return pairs;
  }

  void join_order() {
    out_.next.resize(problem_.ops.size());
    for (size_t i = 0; i < out_.before.size(); ++i) {
      for (const int earlier : out_.before[i]) out_.next[earlier].push_back(static_cast<int>(i));
    }
  }

  static void sort_unique(std::vector<int>& items) {
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
  }

  const Problem& problem_;
  Storages out_;
  std::vector<int> writer_;
};

}  // namespace

Storages find_storages(const Problem& problem) { return Finder(problem).find(); }

}  // namespace tidemark::plan
