#pragma once

#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/source/directives.h"

#include <filesystem>

namespace winnow::evaluators {

/// The headers that GPU code may include: Winnow's headers below `headers`, and the vendor's
/// headers that device code can use.
HeaderRules gpu_header_rules(const GpuToolchain& toolchain, const std::filesystem::path& headers);

} // namespace winnow::evaluators
