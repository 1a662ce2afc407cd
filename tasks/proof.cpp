#include "tasks/proof.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/shell_word.h"
#include "tasks/task_word.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::string_view kProven = "proven", kFailed = "not proven";

/// The digest may come from a store of somebody else, so it is no part of the path.
std::filesystem::path proof_file(std::string_view digest, std::string_view device_kind) {
  return user_state_directory() / "proofs" / sha256_hex(fmt::format("{}\n{}", digest, device_kind));
}

/// Empty: nobody has run the selftest here.
std::string known_outcome(std::string_view digest, std::string_view device_kind) {
  std::string outcome;
  std::ifstream file(proof_file(digest, device_kind));
  std::getline(file, outcome);
  return outcome;
}

} // namespace

void keep_proof(std::string_view digest, std::string_view device_kind, bool is_proven) {
  const std::filesystem::path file = proof_file(digest, device_kind);
  if (std::filesystem::create_directories(user_state_directory())) {
    std::filesystem::permissions(user_state_directory(), std::filesystem::perms::owner_all);
  }
  std::filesystem::create_directories(file.parent_path());
  write_file_atomic(file, fmt::format("{}\n", is_proven ? kProven : kFailed), Readers::Owner);
}

std::string unproven_note(const ProofSubject& task, std::string_view device_kind) {
  const std::string outcome = known_outcome(task.digest, device_kind);
  if (outcome == kProven || (outcome != kFailed && !task.is_own)) {
    return {};
  }
  const std::string device = shell_word(std::string(device_kind)); // of a store of somebody else
  return fmt::format(
      "the task {} is not proven on {}{}: run `winnow tasks selftest {} --device {}`", task.name,
      device, outcome == kFailed ? ", its last selftest did not prove it" : "", task.word, device);
}

std::string unproven_warning(const std::vector<Task>& tasks, std::string_view device_kind) {
  constexpr std::size_t kMostNames = 5;
  std::vector<std::string> names;
  std::string note;
  for (const Task& task : tasks) {
    const std::string found = unproven_note(
        {task.name, task.digest, !own_folder(task).empty(), task_word(task)}, device_kind);
    if (!found.empty()) {
      names.push_back(task.name);
      note = found;
    }
  }
  if (names.size() <= 1) {
    return names.empty() ? "" : "warning: " + note + "\n";
  }
  const std::size_t all = names.size();
  names.resize(std::min(all, kMostNames));
  return fmt::format(
      "warning: {} tasks are not proven on {}: {}{}: run `winnow tasks selftest` for "
      "each\n",
      all, device_kind, join(names, ", "), all > names.size() ? ", ..." : "");
}

} // namespace winnow::tasks
