// HIP has CUDA's vector types built in.
#pragma once
#include "winnow_hip.h"
