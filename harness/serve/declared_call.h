#pragma once

#include "harness/serve/client_request.h"
#include "tasks/result/model_answer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

constexpr const char* kExternal = "external:"; ///< begins the strategy of a declared run
constexpr std::int64_t kMostCall = 1'000'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000; ///< of one call
constexpr double kMostDollars = 1'000'000;          ///< of one call
constexpr std::size_t kMostParents = 16;
constexpr std::size_t kDigitsOfJob = 64; ///< hexadecimal

/// What an item says about the call of a declared run that it came from. All of it is stated by the
/// loop, and nothing of it is measured.
struct DeclaredCall {
  std::string run; ///< as its owner calls it
  std::int64_t call = 0;
  /// The kernels that it builds on: a number for a call of the run, "@43", or a job.
  std::vector<std::string> parents;
  tasks::Usage usage; ///< zeros: not stated
  std::optional<double> dollars;
};

/// The members of an item that read_declared_call() reads.
const std::vector<std::string>& members_of_declared_call();
/// nullopt: the item belongs to no run. Throws UsageError.
std::optional<DeclaredCall> read_declared_call(const ClientObject& item);

/// A search of somebody else, as its loop declares it.
struct RunDeclaration {
  std::string name, strategy, model;
  std::vector<std::string> tasks;
  /// So many replies for each task that do not see each other, so that pass@k can be told. 0: the
  /// loop builds on what it has seen.
  std::int64_t samples = 0;
};

/// The body of POST /v1/runs. Throws UsageError.
RunDeclaration parse_run_declaration(std::string_view body);

} // namespace winnow::harness
