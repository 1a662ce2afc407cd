// cuda::std is std here: the subset under common/.
#pragma once
#include "winnow_cpu.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <functional>

namespace cuda {
namespace std {
using namespace ::std;
} // namespace std
} // namespace cuda
