#pragma once

#include "harness/client/judge_server.h"
#include "harness/serve/client_request.h"
#include "store/run_store.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

// What `show` and `leaderboard` print, of a store or of a server's. The targets are the pages of
// the server with the same reports.

/// `winnow show`.
struct CandidateReport {
  std::string candidate; ///< as the command line names it
  std::string part;      ///< "source", "plan", "reply", "prompt", "log", "samples"; empty: all
  bool json = false;
};
/// Throws UsageError if there is no such candidate, or if it has no such part.
std::string candidate_report(const store::RunStore& store, const CandidateReport& asked);
std::string candidate_target(const CandidateReport& asked);

/// `winnow leaderboard`, but not of suites.
struct BoardReport {
  store::LeaderboardQuery query;
  std::string format = "table"; ///< a key of board_formats()
  std::size_t columns = 0;      ///< of the terminal; 0: no limit
};
/// Empty if no kernel is ranked, and the format is a table. Throws UsageError.
std::string board_report(const store::RunStore& store, const BoardReport& asked);
std::string board_target(const BoardReport& asked);

/// `winnow rules`, schema "winnow.rules". nullopt: what holds for all tasks.
nlohmann::json rules_document(std::optional<tasks::Task> task,
                              const evaluators::DeviceReport& device);

/// The text of a page of a server.
std::string report_at(const ServerOptions& server, const std::string& target);

/// The page of a server with such a target: {"text": ...}. nullopt: it is none of these. Throws
/// UsageError.
std::optional<nlohmann::json> stored_report(const store::RunStore& store, const Target& target);

} // namespace winnow::harness
