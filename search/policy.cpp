#include "search/policy.h"

#include "base/error.h"
#include "base/text.h"
#include "search/archive_search.h"
#include "search/counsel.h"
#include "search/forecast_queue.h"
#include "search/lineage_search.h"
#include "search/role.h"

#include <algorithm>

namespace winnow::search {

const Preset& preset(std::string_view name) {
  const auto found = std::find_if(presets().begin(), presets().end(),
                                  [&](const Preset& own) { return own.name == name; });
  if (found == presets().end()) {
    throw UsageError("unknown strategy '" + std::string(name) + "'" +
                     suggestion(name, strategy_names()));
  }
  return *found;
}

namespace {

/// Throws UsageError for an unknown role, or a role named twice.
void check_roles(const std::vector<std::string>& roles) {
  for (const std::string& role : roles) {
    role_named(role);
    if (std::count(roles.begin(), roles.end(), role) > 1) {
      throw UsageError("the role '" + role + "' is named twice", "remove one of the two names");
    }
  }
}

std::unique_ptr<Search> without_roles(const Policy& policy, Settings settings) {
  if (policy.is_archive()) {
    return std::make_unique<ArchiveSearch>(std::move(settings), policy);
  }
  return std::make_unique<LineageSearch>(std::move(settings), policy);
}

} // namespace

std::unique_ptr<Search> make_search(const Policy& policy, Settings settings) {
  check_roles(settings.roles);
  std::unique_ptr<Search> search = without_roles(policy, settings);
  Settings advisers = settings; // the forecaster stands behind all other roles
  const bool has_forecaster = std::erase(advisers.roles, "forecaster") > 0;
  if (!advisers.roles.empty()) {
    search = std::make_unique<Counsel>(std::move(search), std::move(advisers));
  }
  return has_forecaster ? std::make_unique<ForecastQueue>(std::move(search), std::move(settings))
                        : std::move(search);
}

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Preset& own : presets()) {
      all.push_back(own.name);
    }
    return all;
  }();
  return names;
}

std::unique_ptr<Search> make_search(std::string_view strategy, Settings settings) {
  return make_search(preset(strategy).policy, std::move(settings));
}

} // namespace winnow::search
