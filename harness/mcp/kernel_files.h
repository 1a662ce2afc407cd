#pragma once

#include "base/files.h"

#include <optional>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The kernel files of one call. Texts become files in a folder that is removed with this object.
class KernelFiles {
public:
  /// The word of a command line for a kernel as a tool takes it: {"text", "name"} or {"file"}.
  /// Throws UsageError.
  std::string word_of(const nlohmann::json& kernel);
  /// A path or @ID that the caller gave. Throws UsageError.
  static std::string word_of_file(const std::string& file);
  /// The files of this call by the names that the caller gave, wherever the text names their paths.
  std::string with_given_names(std::string text) const;

private:
  std::string write(const nlohmann::json& kernel);

  std::optional<TemporaryDirectory> folder_;
  std::set<std::string> names_;
};

} // namespace winnow::harness
