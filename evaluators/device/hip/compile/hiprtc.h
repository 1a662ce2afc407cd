#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "tasks/plan/plan_resolve.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The header of headers/hip that goes before a candidate's code: what CUDA has and HIP spells
/// otherwise. The include path is headers/hip, then headers/common.
constexpr const char* kHipPrelude = "winnow_hip.h";

/// The hiprtc of ROCm 5, 6 or 7, loaded from libhiprtc or libamdhip64. Its images are AMD GPU code
/// objects (ELF). Throws Error when there is none. compile() refuses architectures outside
/// hip_architectures() with Error: hiprtc ends the process on an architecture that it does not
/// know. It writes temporary files below $TMPDIR (or /tmp).
std::unique_ptr<RuntimeCompiler> open_hiprtc();

/// Detail: ROCm version and the library's file. Loads the library, compiles nothing.
Availability probe_hiprtc();

/// The compile targets that the hiprtc of this ROCm version knows; empty below ROCm 5.
std::vector<std::string> hip_architectures(int rocm_major);

/// The major version of the ROCm whose hiprtc this machine has, 0 when it has none.
int hiprtc_rocm_major();

/// What is known of an architecture without a GPU of its kind: wave size, limits of a block. For
/// compiling only: sm_count is 1 and memory is unknown. Throws Error, naming those it knows, for
/// an architecture that no supported ROCm version compiles for.
tasks::DeviceFacts hip_architecture_facts(const std::string& architecture);

} // namespace winnow::evaluators
