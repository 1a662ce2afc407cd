#include "base/freed_memory.h"

#include <limits>

#include <malloc.h>

namespace winnow {

void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0); // a mapped block goes back to the system when it is freed
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

} // namespace winnow
