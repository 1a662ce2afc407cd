#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// A direction that a prompt can tell a model to take, so that calls which show the same kernels
/// ask for different things.
struct Mission {
  std::string_view name;    ///< "fewer bytes"
  std::string_view limiter; ///< as profiling names the one that it works against; empty: any
  bool for_seeds = false;   ///< of a kernel with a structure of its own; else of a change
  std::string_view words;   ///< of the prompt
  /// What search::cell_of() says of a kernel that has this structure; empty: it cannot tell.
  std::string_view mark = {};
};
const std::vector<Mission>& missions();

/// The words of the mission with this name. `repeats`: so many calls that show the same kernels
/// have it, too. Throws Error if there is none.
std::string mission_words(std::string_view name, int repeats = 0);

} // namespace winnow::agents
