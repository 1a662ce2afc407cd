#pragma once

#include "evaluators/device/cpu/abi.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace winnow::evaluators::cpu {

class AccessCounter;
class Checker;
class GridBarrier;
class LaunchArguments;
class Module;
class RunFactsSum;

constexpr unsigned kWarpSize = 32;
constexpr unsigned lane_bit(unsigned thread) {
  return 1U << (thread % kWarpSize);
}

/// One kernel launch, ready to run.
struct Launch {
  std::string name; ///< name of the kernel, for messages
  const WinnowKernel* kernel = nullptr;
  const Module* module = nullptr;
  void* const* arguments = nullptr;
  /// The memory to which `arguments` point; check mode only.
  const LaunchArguments* loaded_from = nullptr;
  WinnowUint3 grid{1, 1, 1};
  WinnowUint3 block{1, 1, 1};
  std::size_t shared_bytes = 0; ///< dynamic shared memory
  bool blocking = true;         ///< threads may wait for each other
  bool cooperative = false;
  Checker* checker = nullptr;          ///< check mode only
  AccessCounter* accesses = nullptr;   ///< counts accesses, in place of the checker
  RunFactsSum* facts = nullptr;        ///< only for a counted run
  GridBarrier* grid_barrier = nullptr; ///< cooperative launches only

  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
  unsigned threads() const { return block.x * block.y * block.z; }
  /// True if every access is watched. Blocks must then run one at a time.
  bool watched() const { return checker != nullptr || accesses != nullptr; }
  WinnowUint3 block_at(std::uint64_t index) const {
    return {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x % grid.y),
            static_cast<unsigned>(index / grid.x / grid.y)};
  }
  WinnowUint3 thread_at(unsigned index) const {
    return {index % block.x, index / block.x % block.y, index / block.x / block.y};
  }
};

/// "(1,0,0)"
inline std::string to_string(const WinnowUint3& position) {
  return "(" + std::to_string(position.x) + "," + std::to_string(position.y) + "," +
         std::to_string(position.z) + ")";
}

} // namespace winnow::evaluators::cpu
