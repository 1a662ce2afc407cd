#pragma once

namespace winnow {

/// From now on the process keeps the memory that it frees. A program that allocates tensors of the
/// same sizes again and again would otherwise get each page anew from the system, filled with
/// zeros, and spend most of its time on that. Call it before other threads start.
void keep_freed_memory();

} // namespace winnow
