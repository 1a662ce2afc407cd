// By CUDA's name, which every ROCm version compiles.
#pragma once
#include "cuda_bf16.h"

#define __hip_bfloat16 __nv_bfloat16
#define __hip_bfloat162 __nv_bfloat162
#define hip_bfloat16 __nv_bfloat16
