#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow::evaluators {

// One file of the compile cache: the module, then the compiler's answer, then a footer of a fixed
// size. The module comes first, because dlopen() ignores bytes after a shared library.

/// The parts point into the bytes of the file.
struct CacheEntry {
  std::string_view module; ///< empty: the compiler refused the source
  std::string_view answer; ///< JSON; see compile_answer.h
};

/// The bytes of the file. The footer has the sizes of both parts and the SHA-256 of everything
/// before the footer.
std::string encode(const CacheEntry& entry);
/// nullopt when the bytes end without a footer, or when the footer's sizes or digest are wrong.
std::optional<CacheEntry> decode_cache_entry(std::string_view bytes);
/// The module of an entry, without a check of the digest; all bytes when there is no footer.
std::string_view module_part(std::string_view bytes);

} // namespace winnow::evaluators
