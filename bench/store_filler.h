#pragma once

#include "agents/model/model_endpoint.h"
#include "bench/simulated_judge.h"
#include "harness/run/state/journal.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace winnow::bench {

/// Writes the rows of a run, with the functions with which a run writes them, but without a search,
/// a prompt of its own for each call, and remote judges: for stores that would take hours to fill.
class StoreFiller {
public:
  StoreFiller(harness::Journal& journal, const std::vector<tasks::Task>& tasks,
              agents::ModelEndpoint& model);
  /// Calls `counted` after each evaluation.
  void fill(std::int64_t evaluations, const std::function<void()>& counted);

private:
  struct Filled {
    std::shared_ptr<const tasks::Task> task;
    store::RowId row = 0, baseline = 0;
  };
  void add(Filled& filled, std::int64_t step);
  store::RowId add_candidate(const Filled& filled, const agents::ModelRequest& request,
                             const agents::ModelReply& reply);
  void judge(const Filled& filled, store::RowId candidate, const std::string& key,
             const std::string& text);

  harness::Journal& journal_;
  agents::ModelEndpoint& model_;
  std::vector<Filled> tasks_;
  ScaledVerdicts verdicts_;
};

} // namespace winnow::bench
