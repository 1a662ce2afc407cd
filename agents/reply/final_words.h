#pragma once

#include <cstdint>
#include <string_view>

namespace winnow::agents {

/// What a model says of a kernel file before it shows it.
enum class Standing : std::uint8_t {
  Unknown,
  Former, ///< the parent, a draft, or what another kernel file replaces
  Final,
};

/// By the words between the block before and the block. The last sentence counts first, and only a
/// short one makes a former kernel: "Before:", but not "Unlike the original, ...".
Standing standing_by(std::string_view words);

} // namespace winnow::agents
