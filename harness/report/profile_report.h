#pragma once

#include "tasks/result/evaluation.h"

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

struct ProfiledKernel {
  std::string file;
  std::string digest;           ///< of file and parameters
  tasks::Evaluation evaluation; ///< with its profile, when it is correct
};

/// A kernel in figures, perhaps beside another one, with which it was timed launch beside launch.
struct ProfileReport {
  std::string task;
  ProfiledKernel kernel;
  std::optional<ProfiledKernel> against;
};

/// A table, what the limiters rest on, and why something could not be measured, once each. Without
/// another kernel there is a column a shape; with one there is a table a shape. A kernel that is
/// not correct is shown as `winnow eval` shows it.
std::string profile_text(const ProfileReport& report);
/// Schema "winnow.profile", version 2; times in ns, energy in J.
nlohmann::json profile_json(const ProfileReport& report);

} // namespace winnow::harness
