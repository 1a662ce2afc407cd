#pragma once

#include "base/sanitized.h"

// Compiles a loop for several vector widths; the program picks one at start. A loop over elements
// of one kind or type has no branches, so it vectorises. Sanitizers cannot instrument the choice.
// clang++ 14 refuses the attribute on templates: macros define these functions.
#if defined(__x86_64__) && __has_attribute(target_clones) && !defined(WINNOW_SANITIZED)
#define TASKS_WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TASKS_WIDE_VECTORS
#endif
