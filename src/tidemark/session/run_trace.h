// RunTrace: what one run of a session did, op by op: when, how long, on how many bytes.
#pragma once

#include <tidemark/call.h>

#include <chrono>
#include <map>

#include "tidemark/graph/graph.h"

namespace tidemark::session {

struct RunTrace {
  struct OpRun {
    std::string node;   // the name of the node; of the op where several nodes share op and line
    std::string op;     // the op's name
    std::string place;  // "train.py:12 in step"
    int64_t start_us = 0, duration_us = 0;  // since the run began
    int64_t output_bytes = 0;               // of its outputs
    int64_t allocated_bytes = 0;            // allocated by it and alive after it
    int64_t peak_bytes = 0;                 // allocated by it, workspace included, at the most
    std::vector<std::string> outputs;       // "float32 (2, 3)"
  };
  int64_t started_us = 0;  // since 1970
  int64_t duration_us = 0;
  int64_t peak_bytes = 0;  // allocated during the run, at the most
  std::vector<OpRun> ops;
};

/// Sees the ops of a run on this thread and writes them down.
class Tracer final : public Handler {
 public:
  /// `nodes`: those of the run, in its order, for their names.
  Tracer(RunTrace& trace, std::span<graph::Node* const> nodes);
  void handle(const OpCall& call, std::span<Tensor> outputs) override;

 private:
  using Clock = std::chrono::steady_clock;
  std::string name_of(const OpCall& call);

  RunTrace& trace_;
  Clock::time_point started_ = Clock::now();
  struct Names {
    std::vector<std::string> all;
    size_t next = 0;
  };
  std::map<std::pair<const OpDef*, const memory::Site*>, Names> names_;
};

}  // namespace tidemark::session
