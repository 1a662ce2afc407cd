// Asynchronous copies are done at once, shared among the threads of the group; wait() is where
// everybody sees them.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

template <class Group>
inline void winnow_copy_bytes(const Group& group, void* to, const void* from, size_t bytes) {
  char* target = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  const size_t chunk = 16;
  for (size_t at = group.thread_rank() * chunk; at < bytes; at += group.size() * chunk) {
    const size_t left = bytes - at;
    __builtin_memcpy(target + at, source + at, left < chunk ? left : chunk);
  }
}
template <class Group, class T, class Bytes>
inline void memcpy_async(const Group& group, T* to, const T* from, Bytes bytes) {
  winnow_copy_bytes(group, to, from, size_t(bytes));
}
template <class Group, class T, class ToLayout, class FromLayout>
inline void memcpy_async(const Group& group, T* to, const ToLayout& to_count, const T* from,
                         const FromLayout& from_count) {
  const size_t count =
      size_t(to_count) < size_t(from_count) ? size_t(to_count) : size_t(from_count);
  winnow_copy_bytes(group, to, from, count * sizeof(T));
}
template <class Group> inline void wait(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}
template <unsigned Pending, class Group>
inline void wait_prior(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}

} // namespace cooperative_groups
