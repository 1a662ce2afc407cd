#pragma once

#include "tasks/inputs/dtype.h"

#include <cstdint>

namespace winnow::evaluators {

/// The 8-byte pattern that fills outputs and scratch before a run. In every floating type each
/// element of the pattern is a signalling NaN (F8E4M3 has only quiet NaNs). Arithmetic turns a
/// signalling NaN into another NaN, so an element that still holds the pattern was never written.
/// `salt` varies the pattern from case to case.
constexpr std::uint64_t poison_pattern(tasks::DType dtype, std::uint64_t salt) {
  switch (dtype) {
  case tasks::DType::F64:
    return 0x7ff4000000000000ULL | (salt & 0x0003ffffffffffffULL);
  case tasks::DType::F16:
    return 0x7d017d017d017d01ULL | (salt & 0x00fe00fe00fe00feULL);
  case tasks::DType::F8E4M3: // the only NaN, with either sign
    return 0x7f7f7f7f7f7f7f7fULL | (salt & 0x8080808080808080ULL);
  case tasks::DType::F8E5M2:
    return 0x7d7d7d7d7d7d7d7dULL | (salt & 0x8080808080808080ULL);
  default: // f32 and bf16 share the pattern; for integers it is an unlikely number
    return 0x7f817f817f817f81ULL | (salt & 0x003e003e003e003eULL);
  }
}

} // namespace winnow::evaluators
