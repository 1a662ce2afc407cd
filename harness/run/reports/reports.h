#pragma once

#include "evaluators/device/device_report.h"
#include "harness/client/judge_server.h"
#include "harness/serve/client_request.h"
#include "store/run_store.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

// What `show` and `leaderboard` print, of a store or of a server's. The targets are the pages of
// the server with the same reports.

/// `winnow show`.
struct CandidateReport {
  std::string candidate; ///< as the command line names it
  std::string part;      ///< "source", "plan", "reply", "prompt", "log", "samples"; empty: all
  bool json = false;
  bool without_hidden = false; ///< for clients of a server
};
/// Throws UsageError if there is no such candidate, or if it has no such part.
std::string candidate_report(const store::RunStore& store, const CandidateReport& asked);
std::string candidate_target(const CandidateReport& asked);

/// `winnow leaderboard`, but not of suites.
struct BoardReport {
  store::LeaderboardQuery query;
  std::string format = "table"; ///< a key of board_formats()
  std::size_t columns = 0;      ///< of the terminal; 0: no limit
  bool without_hidden = false;  ///< for clients of a server
};
/// Empty if no kernel is ranked, and the format is a table. Throws UsageError.
std::string board_report(const store::RunStore& store, const BoardReport& asked);
std::string board_target(const BoardReport& asked);

/// The text of a page of a server.
std::string report_at(const ServerOptions& server, const std::string& target);

/// The pages of a server that commands with --server print: /v1/reports/.
class ServedReports {
public:
  /// `find_task`: as JudgeServiceSetup::find_task.
  ServedReports(std::filesystem::path store, evaluators::DeviceReport device,
                std::function<std::shared_ptr<const tasks::Task>(const std::string&)> find_task)
      : store_(std::move(store)), device_(std::move(device)), find_task_(std::move(find_task)) {}

  /// For the owner whose work it may show; empty: all. nullopt: there is no such page. Throws
  /// UsageError. Names no file of the server.
  std::optional<nlohmann::json> page(const Target& target, const std::string& sees) const;

private:
  std::string without_path(std::string text) const;
  nlohmann::json task_page(const std::string& name) const;
  nlohmann::json rules_page(const std::string& name) const;

  std::filesystem::path store_;
  evaluators::DeviceReport device_;
  std::function<std::shared_ptr<const tasks::Task>(const std::string&)> find_task_;
};

} // namespace winnow::harness
