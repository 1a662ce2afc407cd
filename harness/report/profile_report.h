#pragma once

#include "tasks/result/evaluation.h"

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

struct ProfiledKernel {
  std::string file;
  std::string digest;           ///< digest of file and parameters
  tasks::Evaluation evaluation; ///< contains a profile if the kernel is correct
};

/// The profile of a kernel. With `against`, the two kernels were timed launch beside launch.
struct ProfileReport {
  std::string task;
  ProfiledKernel kernel;
  std::optional<ProfiledKernel> against;
};

/// A table, the evidence for each limiter, and, once each, the reasons why something could not be
/// measured. One kernel gives one table with a column for each shape; two kernels give a table for
/// each shape. A kernel that is not correct is shown as `winnow eval` shows it.
std::string profile_text(const ProfileReport& report);
/// Schema "winnow.profile", version 2; times in ns, energy in J.
nlohmann::json profile_json(const ProfileReport& report);

} // namespace winnow::harness
