#pragma once

#include "evaluators/device/gpu/compile/runtime_compiler.h"
#include "evaluators/device/gpu/gpu_vendor.h"
#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/plan/signature.h"
#include "tasks/result/finding.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Facts that a compiled image states about itself.
struct GpuImageFacts {
  std::vector<std::string> signatures; ///< encoded parameters, one per kernel
  std::vector<std::int64_t> constants;
  std::vector<tasks::KernelResources> kernels;
  /// Digest of every byte of the image and of the map from kernels to symbols.
  std::string machine_code_digest;
  std::vector<std::string> advice; ///< printed by the assembler
  std::vector<tasks::Finding> findings;
  std::vector<std::string> features; ///< tasks::BuildRecord::features
};

/// An image as its compiler left it.
struct CompiledImage {
  const ElfReader& elf;
  const std::string& architecture;
  const RuntimeCompileOutput& output;
  const std::vector<std::string>& kernels; ///< names in the plan
};

/// Throws ElfError when the image is malformed.
GpuImageFacts read_gpu_image(const GpuVendor& vendor, const std::string& architecture,
                             const RuntimeCompileOutput& output,
                             const std::vector<std::string>& kernels, std::size_t constants);

} // namespace winnow::evaluators
