// Goes before every candidate's code that NVRTC compiles.
#pragma once
#include "prelude.h"

// Without it cooperative_groups.h takes in libcu++: 0.9 s instead of 0.05 s. What it costs a
// candidate are asynchronous reductions into cuda::atomic.
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include "cuda.h"
