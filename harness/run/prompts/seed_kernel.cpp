#include "harness/run/prompts/seed_kernel.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/report/eval_report.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/task_word.h"

#include <filesystem>

#include <fmt/format.h>

namespace winnow::harness {

std::string lasting_seed(const std::string& seed, const store::RunStore& store,
                         const std::string& task) {
  return seed.starts_with('@') ? fmt::format("@{}", store.candidate_of_task(seed, task).row.id)
                               : seed;
}

std::string seed_name(const std::string& seed) {
  return to_valid_utf8(seed.starts_with('@') ? seed
                                             : std::filesystem::path(seed).filename().string());
}

std::string seed_text(const std::string& seed, const store::RunStore& store,
                      const std::string& task) {
  return seed.starts_with('@') ? store.candidate_of_task(seed, task).row.text
                               : read_file(seed, tasks::kMaxKernelFileBytes);
}

std::string checked_seed_text(const std::string& seed, const store::RunStore& store,
                              const tasks::Task& task) {
  std::string text = seed_text(seed, store, task.name);
  if (const auto parsed = tasks::parse_kernel_file(text, seed_name(seed)); !parsed.kernel_file) {
    throw UsageError("run.seed_kernel: " + to_string(parsed.errors.front()),
                     kernel_form(tasks::task_word(task)));
  }
  return text;
}

} // namespace winnow::harness
