#include "base/freed_memory.h"

#include <limits>

#include <malloc.h>

namespace winnow {

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);  // a mapped block goes back to the system when it is freed
  mallopt(M_ARENA_MAX, 1); // other arenas map what is larger than 64 MiB
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

void give_back_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 256 * 1024); // larger blocks get a mapping; glibc would raise this
  mallopt(M_ARENA_MAX, 2);
}

void trim_freed_memory() {
  malloc_trim(0);
}

} // namespace winnow
