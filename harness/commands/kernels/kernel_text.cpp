#include "harness/commands/kernels/kernel_text.h"

#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/report/terminal.h"
#include "store/run_store.h"
#include "tasks/plan/kernel_file.h"

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigitsOnBoard = 8;

/// Digits as the column "file" of a board shows them, and no path.
bool is_from_board(const std::string& name) {
  return name.size() >= kDigitsOnBoard &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos && !fs::exists(name);
}

KernelText text_of_candidate(const std::string& name, const std::string& store_path,
                             const std::string& task) {
  const store::RunStore store(find_store(store_path), store::RunStore::Mode::ReadOnly);
  const store::RowId id =
      store.candidate_named(name.starts_with('@') ? name.substr(1) : name, task);
  const store::CandidateState state = store.candidate_state(id);
  if (state.row.task != task) {
    throw UsageError(
        fmt::format("candidate {} is a kernel of task {}, not of {}", id, state.row.task, task),
        "name the task " + state.row.task + ", or another candidate");
  }
  return {fmt::format("@{}", id), state.row.text,
          state.best ? state.best->parameters : tasks::ParameterChoice{}};
}

std::string file_text(const std::string& file) {
  if (fs::is_directory(file)) {
    throw UsageError(file + " is a directory; expected a kernel file");
  }
  if (!fs::exists(file)) {
    throw UsageError(file + ": no such file");
  }
  std::error_code not_regular; // a pipe has no size; read_file() limits its size too
  const auto bytes = fs::file_size(file, not_regular);
  if (!not_regular && bytes > tasks::kMaxKernelFileBytes) {
    throw UsageError(file + " has " + std::to_string(bytes) +
                     " bytes; a kernel file may have at most " +
                     std::to_string(tasks::kMaxKernelFileBytes) + " bytes");
  }
  return read_file(file, tasks::kMaxKernelFileBytes);
}

} // namespace

void add_store_of_kernels(CLI::App& sub, std::string& store) {
  sub.add_option("--store", store, std::string("where @ID looks a candidate up; ") + kStoreHelp);
}

KernelText read_kernel(const std::string& name, const std::string& store, const std::string& task) {
  if (name.starts_with('@') || is_from_board(name)) {
    return text_of_candidate(name, store, task);
  }
  return {name, file_text(name), {}};
}

void check_kernel(const std::string& name, const std::string& store, const std::string& task) {
  std::error_code absent; // read_kernel() says what is wrong
  const fs::file_type type = fs::status(name, absent).type();
  if (type != fs::file_type::fifo && type != fs::file_type::socket &&
      type != fs::file_type::character) {
    read_kernel(name, store, task);
  }
}

std::vector<std::string> assignments_of(const tasks::ParameterChoice& parameters) {
  std::vector<std::string> assignments;
  for (const auto& [name, value] : parameters) {
    assignments.push_back(fmt::format("{}={}", name, value));
  }
  return assignments;
}

std::string stem_of(const std::string& name) {
  return name.starts_with('@') ? "candidate-" + name.substr(1) : fs::path(name).stem().string();
}

} // namespace winnow::harness
