#include "harness/run/torch_tasks.h"

#include "base/error.h"
#include "harness/report/counted.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::size_t kMostNames = 5;

std::string names_of(const std::vector<tasks::Task>& tasks) {
  std::string names;
  for (std::size_t i = 0; i < std::min(tasks.size(), kMostNames); ++i) {
    names += (i == 0 ? "" : ", ") + tasks[i].name;
  }
  return names + (tasks.size() > kMostNames ? ", ..." : "");
}

} // namespace

std::string leave_out_torch_tasks(std::vector<tasks::Task>& tasks,
                                  const std::function<void()>& start_torch) {
  std::vector<tasks::Task> with_torch, others;
  for (const tasks::Task& task : tasks) {
    (task.torch ? with_torch : others).push_back(task);
  }
  if (with_torch.empty()) {
    return {};
  }
  try {
    start_torch();
    return {};
  } catch (const UsageError&) {
    throw; // WINNOW_PYTHON names no program
  } catch (const Error& error) {
    const auto count = static_cast<std::int64_t>(with_torch.size());
    const std::string what =
        fmt::format("{} PyTorch as the judge ({}), and PyTorch does not start: {}",
                    counted(count, "task needs", "tasks need"), names_of(with_torch), error.what());
    if (others.empty()) {
      throw Error(what, error.remedy());
    }
    tasks = std::move(others);
    return what + "; left out of this run. " + error.remedy();
  }
}

} // namespace winnow::harness
