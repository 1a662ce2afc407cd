#pragma once

#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/source/source_scan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Headers that take so long to parse that they are precompiled together. A source that includes
/// one of them gets all of them at its beginning.
struct HeaderGroup {
  std::string name;                 ///< "cub"
  std::string names;                ///< common prefix of the headers' names: "cub/"
  std::vector<std::string> headers; ///< headers that include the whole group: {"cub/cub.cuh"}
};

/// The groups that `toolchain` has, the slowest first. CUB's group includes cooperative groups.
std::vector<HeaderGroup> header_groups(const GpuToolchain& toolchain);

/// The first group of which the source includes a header. None if the source defines, before that,
/// a macro that configures such headers.
std::optional<HeaderGroup> find_header_group(const std::vector<HeaderGroup>& groups,
                                             const std::vector<Token>& tokens);

/// A quick test; false when find_header_group() would find nothing.
bool may_use_group(const HeaderGroup& group, std::string_view source);

/// The text with which every source of the group begins; exactly this text is precompiled.
std::string group_prefix(const HeaderGroup& group, const std::string& prelude);

} // namespace winnow::evaluators
