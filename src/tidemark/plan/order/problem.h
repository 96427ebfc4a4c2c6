// What is to be ordered and packed: ops with values between them, sizes only.
//
//   plan::Problem problem;
//   problem.values = {{.bytes = 400}, {.bytes = 400}, {.bytes = 4, .kept = true}};
//   problem.ops = {{.outputs = {0}},
//                  {.inputs = {0}, .outputs = {1}, .in_place = {{1, 0}}},
//                  {.inputs = {1}, .outputs = {2}, .workspace = 64}};
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark::plan {

inline constexpr int kNone = -1;

/// Bytes that one op writes; or, where none does, that are there from the start.
struct Value {
  int64_t bytes = 0;
  int view_of = kNone;    ///< shares the bytes of that value
  bool kept = false;      ///< still needed after the last op
  bool external = false;  ///< lies elsewhere: counts nothing and may not be written over
};

struct Op {
  std::vector<int> inputs{};
  std::vector<int> outputs{};
  int64_t workspace = 0;     ///< bytes it needs while it runs
  std::vector<int> after{};  ///< ops that must run before, whatever their values
  /// (output, input): the output may take over the input's bytes if those die with this op.
  std::vector<std::pair<int, int>> in_place{};
};

struct Problem {
  std::vector<Value> values{};
  std::vector<Op> ops{};  ///< in an order that works
};

/// Bytes that live and die together: a value and its views.
struct Storage {
  int64_t bytes = 0;
  bool kept = false;
  bool external = false;
  int creator = kNone;     // the op that writes it first; none: it is there from the start
  std::vector<int> users;  // ops that read it, or make a view of it; each once, not the creator
};

/// A problem as the planner sees it: who needs which bytes, who must come before whom.
struct Storages {
  struct Use {
    std::vector<int> reads;                      // storages the op uses, each once
    std::vector<int> creates;                    // storages the op writes first
    std::vector<std::pair<int, int>> takeovers;  // (created, read) of the same size
  };
  std::vector<Storage> all;
  std::vector<int> of_value;
  std::vector<Use> of_op;
  std::vector<std::vector<int>> before;  // per op: those that must have run
  std::vector<std::vector<int>> next;    // per op: those that wait for it
};

/// Throws InvalidArgumentError when indices or sizes are out of range, a value is written twice,
/// views go in circles, or the ops are not in an order that works.
TIDEMARK_API Storages find_storages(const Problem& problem);

}  // namespace tidemark::plan
