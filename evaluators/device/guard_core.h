// What guard zones hold, on hosts and devices alike: like tasks/inputs/dtype_core.h, and after it,
// the text of this file goes into device code.
#pragma once

#include "tasks/inputs/dtype_core.h"

namespace winnow::evaluators {

/// The finaliser of SplitMix64 (Steele et al., OOPSLA 2014): every bit depends on every bit.
TASKS_ANYWHERE inline unsigned long long mix_bits(unsigned long long bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31U);
}

/// The 8 bytes of a guard zone at `address`, a multiple of 8. Read as any floating type they are
/// NaN (as F8E4M3, half of them and else the largest negative numbers); they differ from place to
/// place, so that what is copied from one zone to another is seen, and `salt` makes them differ
/// from case to case and process to process.
TASKS_ANYWHERE inline unsigned long long guard_word(unsigned long long salt,
                                                    unsigned long long address) {
  const unsigned long long random = mix_bits(salt + (address >> 3U) * 0x9e3779b97f4a7c15ULL);
  unsigned long long word = 0;
  for (unsigned half = 0; half < 64; half += 16) {
    const unsigned long long part = (random >> half) & 0xffffU;
    const unsigned long long low = 0xfd + ((part & 0xffU) * 3 >> 8U); // 0xfd, 0xfe or 0xff
    word |= (0x7f00U | (part & 0x8000U) | low) << half;
  }
  return word;
}

} // namespace winnow::evaluators
