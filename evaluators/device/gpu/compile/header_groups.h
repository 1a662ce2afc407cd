#pragma once

#include "evaluators/device/gpu/compile/gpu_toolchain.h"
#include "evaluators/device/source/source_scan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Headers that take the compiler so long to read that they are precompiled, together. A source
/// that includes one of them begins with all of them.
struct HeaderGroup {
  std::string name;                 ///< "cub"
  std::string names;                ///< "cub/": what its headers' names begin with
  std::vector<std::string> headers; ///< {"cub/cub.cuh"}: what includes them all
};

/// Those that `toolchain` has, the slowest first. Cooperative groups are in CUB's, too.
std::vector<HeaderGroup> header_groups(const GpuToolchain& toolchain);

/// The first group of which a source includes a header. None, too, where the source defines a macro
/// before that such headers are configured by.
std::optional<HeaderGroup> find_header_group(const std::vector<HeaderGroup>& groups,
                                             const std::vector<Token>& tokens);

/// A quick look: false when find_header_group() would find nothing.
bool may_use_group(const HeaderGroup& group, std::string_view source);

/// What every source of the group begins with, and all that is precompiled.
std::string group_prefix(const HeaderGroup& group, const std::string& prelude);

} // namespace winnow::evaluators
