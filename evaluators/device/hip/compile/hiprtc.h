#pragma once

#include "base/availability.h"
#include "evaluators/device/gpu/compile/gpu_image.h"
#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The header in headers/hip that comes before a candidate's code. It defines CUDA names that HIP
/// spells differently. The include path is headers/hip, then headers/common.
constexpr const char* kHipPrelude = "winnow_hip.h";

/// The hiprtc of ROCm 5, 6 or 7, from libhiprtc or libamdhip64. Its images are AMD GPU code objects
/// (ELF). Throws Error when there is none. compile() throws Error for architectures outside of
/// hip_architectures(), because hiprtc ends the process on an unknown architecture. hiprtc writes
/// temporary files below $TMPDIR or /tmp.
std::unique_ptr<RuntimeCompiler> open_hiprtc();

/// Its detail: ROCm version and the library's file. Loads the library but compiles nothing.
Availability probe_hiprtc();

/// The architectures that the hiprtc of this ROCm version can compile for; empty below ROCm 5.
std::vector<std::string> hip_architectures(int rocm_major);

/// The major version of this machine's ROCm with hiprtc; 0: none.
int hiprtc_rocm_major();

/// The wave size and the limits of a block of an architecture, for machines without such a GPU. For
/// compiling only: sm_count is 1, and the memory size is unknown. Throws Error, with the list of
/// the known architectures, for an architecture that no supported ROCm version compiles for.
tasks::DeviceFacts hip_architecture_facts(const std::string& architecture);

// For GpuVendor.
GpuToolchain find_hip_toolchain(const std::string& architecture);
void read_hip_image(const CompiledImage& image, GpuImageFacts& facts);

} // namespace winnow::evaluators
