#include "harness/run/state/run_setup.h"

#include "base/error.h"

#include <algorithm>

namespace winnow::harness {

const RunModel& RunLoopSetup::model_of(const search::Ask& ask) const {
  if (ask.model.empty()) {
    return models.front();
  }
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const RunModel& model) { return model.name == ask.model; });
  if (found == models.end()) {
    throw Error("the search log asks the model '" + ask.model + "', which the run does not have",
                "the store was changed by hand; start a new run");
  }
  return *found;
}

} // namespace winnow::harness
