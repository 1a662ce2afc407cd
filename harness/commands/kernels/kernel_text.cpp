#include "harness/commands/kernels/kernel_text.h"

#include "base/error.h"
#include "base/files.h"
#include "harness/report/json_table.h"
#include "harness/report/terminal.h"
#include "harness/run/reports/reports.h"
#include "harness/serve/family_judgement.h"
#include "tasks/plan/kernel_file.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigitsOnBoard = 8;

/// Digits as the column "file" of a board shows them, and no path.
bool is_from_board(const std::string& name) {
  return name.size() >= kDigitsOnBoard &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos && !fs::exists(name);
}

KernelText text_of_candidate(const std::string& name, const store::RunStore& store,
                             const std::string& task) {
  const store::CandidateState state = store.candidate_of_task(name, task);
  return {fmt::format("@{}", state.row.id), state.row.text,
          state.best ? state.best->parameters : tasks::ParameterChoice{},
          tuned_family(store, state.row.id).trials};
}

KernelText text_at_server(const std::string& name, const ServerOptions& options,
                          const std::string& task) {
  const nlohmann::json candidate =
      nlohmann::json::parse(report_at(options, candidate_target({name, "", true})));
  const std::string of = text_at(candidate, "task");
  if (of != task) {
    throw UsageError(fmt::format("{} is a kernel of task {}, not of {}", name, of, task));
  }
  KernelText kernel{
      fmt::format("@{}", text_at(candidate, "candidate_id")), text_at(candidate, "source"), {}};
  const nlohmann::json& evaluation = candidate.at("evaluation");
  if (evaluation.is_object() && evaluation.at("parameters").is_object()) {
    kernel.parameters = evaluation.at("parameters").get<tasks::ParameterChoice>();
  }
  return kernel;
}

bool is_standard_input(const std::string& name) {
  static const std::set<std::string> names{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
  return names.contains(name);
}

std::string text_of_standard_input() {
  std::string text;
  for (char c = 0; text.size() <= tasks::kMaxKernelFileBytes && std::cin.get(c);) {
    text += c;
  }
  if (text.size() > tasks::kMaxKernelFileBytes) {
    throw UsageError(fmt::format("{} has more than {} bytes, which a kernel file may have at most",
                                 kStandardInput, tasks::kMaxKernelFileBytes));
  }
  return text;
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

CLI::Option* add_store_of_kernels(CLI::App& sub, std::string& store) {
  return sub.add_option("--store", store,
                        std::string("where @ID looks a candidate up; ") + kStoreHelp);
}

KernelText read_kernel(const std::string& name, CommandStore& store, const std::string& task) {
  if (name.starts_with('@') || is_from_board(name)) {
    return store.server() ? text_at_server(name, *store.server(), task)
                          : text_of_candidate(name, store.to_read(), task);
  }
  return is_standard_input(name) ? KernelText{kStandardInput, text_of_standard_input(), {}}
                                 : KernelText{name, file_text(name), {}};
}

namespace {

void check_kernel(const std::string& name, CommandStore& store, const std::string& task) {
  std::error_code absent; // read_kernel() says what is wrong
  const fs::file_type type = fs::status(name, absent).type();
  if (!is_standard_input(name) && type != fs::file_type::fifo && type != fs::file_type::socket &&
      type != fs::file_type::character) {
    read_kernel(name, store, task);
  }
}

} // namespace

void check_kernels(const std::vector<std::string>& names, CommandStore& store,
                   const std::string& task) {
  if (std::count_if(names.begin(), names.end(), is_standard_input) > 1) {
    throw UsageError("standard input is named twice, but can be read once only",
                     "name a file instead of one of the two");
  }
  for (const std::string& name : names) {
    check_kernel(name, store, task);
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
  return name == kStandardInput  ? "kernel"
         : name.starts_with('@') ? "candidate-" + name.substr(1)
                                 : fs::path(name).stem().string();
}

} // namespace winnow::harness
