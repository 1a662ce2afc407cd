#pragma once

#include "harness/serve/reward.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace winnow::harness {

/// The built-in rewards and those of the tables [serve.reward.NAME] of a TOML text. `file`: for
/// messages. Throws UsageError that lists every mistake as "FILE:LINE:COLUMN: mistake".
Rewards parse_rewards(std::string_view text, const std::string& file);

/// The rewards of a file; the built-in ones if the path is empty. Throws also Error.
Rewards load_rewards(const std::filesystem::path& file);

} // namespace winnow::harness
