#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WINNOW_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define WINNOW_SANITIZED 1
#endif
#endif

namespace winnow {

/// True in a build with a sanitizer. Sanitizers reserve terabytes of address space and need a
/// dumpable process. A sanitizer ends a process that loads a library with RTLD_DEEPBIND.
#ifdef WINNOW_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

} // namespace winnow
