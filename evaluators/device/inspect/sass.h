#pragma once

#include <cstddef>
#include <string_view>

namespace winnow::evaluators {

/// Numbers of instructions of some classes.
struct SassCounts {
  std::size_t clock_reads = 0;
  std::size_t global_timer_reads = 0;
  std::size_t sleeps = 0;
  std::size_t warp_products = 0;  ///< tensor cores: mma.sync, wmma
  std::size_t group_products = 0; ///< tensor cores: wgmma
  std::size_t block_products = 0; ///< tensor cores: tcgen05.mma
  std::size_t thread_copies = 0;  ///< cp.async
  std::size_t bulk_copies = 0;    ///< cp.async.bulk, with and without tensor maps

  SassCounts& operator+=(const SassCounts& other);
};

/// Reads machine code of compute capability 7.0 and later, where every instruction has 16 bytes.
/// Ignores fewer than 16 bytes at the end. NVIDIA does not publish the encodings: the numbers come
/// from the output of NVRTC 13.0 for sm_75 to sm_120. A test checks them against the installed
/// NVRTC.
SassCounts count_sass(std::string_view code);

/// Whether count_sass() knows the encodings of an architecture like "sm_90a".
bool has_known_sass(std::string_view architecture);

} // namespace winnow::evaluators
