#pragma once

namespace winnow {

/// From now on the process keeps the memory that it frees. A program that allocates tensors of the
/// same sizes again and again would otherwise get each page anew from the system, filled with
/// zeros, and spend most of its time on that. Call it before other threads start.
void keep_freed_memory();

/// From now on the process gives large blocks back to the system when it frees them. A server that
/// makes large texts would otherwise keep several times their size: glibc takes blocks of up to
/// 32 MiB from the heap of a thread once such a block was freed. Call it before other threads
/// start.
void give_back_freed_memory();

/// Gives the free pages between blocks that are in use back to the system. Takes milliseconds.
void trim_freed_memory();

} // namespace winnow
