#include "search/trial.h"

#include "tasks/result/evaluation.h"

namespace winnow::search {

double overall(const Trial& trial) {
  return tasks::geometric_mean(trial.speeds);
}

} // namespace winnow::search
