#pragma once

#include "lab/recorded_search.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::harness {

/// A recorded search and the name of its strategy.
struct StoredSearch {
  std::string strategy;
  lab::RecordedSearch search;
};

/// The searches of a store that have a log; `run`: of this run only, unless empty. Opens the store
/// for reading. Throws UsageError if there is none.
std::vector<StoredSearch> stored_searches(const std::filesystem::path& store,
                                          const std::string& run);

} // namespace winnow::harness
