#include "search/outcome.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

using nlohmann::json;

json profiles_in(const tasks::Evaluation& evaluation) {
  json profiles = json::parse(evaluation.profile, nullptr, false);
  return profiles.is_array() ? profiles : json::array();
}

/// The value at a path of keys; nullopt: there is none.
std::optional<double> number_at(const json& profile, const char* part, const char* key) {
  const auto found = profile.find(part);
  return found == profile.end() || !found->is_object() || !found->contains(key) ||
                 !(*found)[key].is_number()
             ? std::nullopt
             : std::optional((*found)[key].get<double>());
}

/// The profile of the shape that takes longest; null: there is none.
json longest(const json& profiles) {
  json found;
  double time = 0;
  for (const json& profile : profiles) {
    const auto own = profile.find("time_ns");
    if (own != profile.end() && own->is_number() && own->get<double>() > time) {
      time = own->get<double>();
      found = profile;
    }
  }
  return found;
}

/// "0", "1 to 16 KB", "16 to 64 KB", ...: steps at which other layouts begin to fit.
std::string shared_bucket(double bytes) {
  if (bytes <= 0) {
    return "none";
  }
  double limit = 16 * 1024;
  while (bytes > limit) {
    limit *= 4;
  }
  return "up to " + std::to_string(std::lround(limit / 1024)) + " KB";
}

std::string limiter_of(const json& profile) {
  const auto findings = profile.find("limiters");
  if (findings == profile.end() || !findings->is_array() || findings->empty()) {
    return {};
  }
  return findings->front().value("limiter", "");
}

void add(std::string& cell, const std::string& part) {
  if (!part.empty()) {
    cell += (cell.empty() ? "" : ", ") + part;
  }
}

} // namespace

std::string cell_of(const tasks::Evaluation& evaluation) {
  std::string cell;
  for (const std::string& feature : evaluation.build.features) {
    add(cell, feature);
  }
  const json profile = longest(profiles_in(evaluation));
  if (profile.is_null()) {
    return cell.empty() ? "plain" : cell;
  }
  if (const auto bytes = number_at(profile, "launch", "shared_bytes")) {
    add(cell, "shared memory " + shared_bucket(*bytes));
  }
  if (const auto occupancy = number_at(profile, "launch", "occupancy")) {
    add(cell, "occupancy from " +
                  std::to_string(std::min(static_cast<int>(*occupancy * 4), 3) * 25) + " %");
  }
  const std::string limiter = limiter_of(profile);
  add(cell, limiter.empty() ? "" : "limited by " + limiter);
  return cell.empty() ? "plain" : cell;
}

double least_speed_of_light(const tasks::Evaluation& evaluation) {
  double least = 0;
  bool is_first = true;
  for (const json& profile : profiles_in(evaluation)) {
    const double own = number_at(profile, "speed_of_light", "fraction").value_or(0);
    least = is_first ? own : std::min(least, own);
    is_first = false;
  }
  return least;
}

} // namespace winnow::search
