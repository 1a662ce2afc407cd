// CUDA C++ on the CPU: everything that a kernel may use without including anything. Lean on
// purpose: it is parsed for every candidate. Self-contained, for clang++ >= 14 and g++ >= 11 with
// -nostdinc.
#pragma once

#define WINNOW_CPU_DEVICE 1
// Above sm_80, files select code paths written in PTX.
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#endif

#include "prelude.h"
#include "winnow_core.h"

#include "vector_types.h"
#include "winnow_math.h"
#include "winnow_intrinsics.h"
#include "winnow_memory.h"
#include "algorithm"
#include "cmath"
#include "limits"
#include "string.h"
#include "winnow_unsupported.h"
