#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace winnow::harness {

/// "1 call", "2 calls", "0 calls". `several`: the plural, if it is not the noun with an s.
inline std::string counted(std::int64_t count, std::string_view noun,
                           std::string_view several = "") {
  return count == 1        ? fmt::format("1 {}", noun)
         : several.empty() ? fmt::format("{} {}s", count, noun)
                           : fmt::format("{} {}", count, several);
}

} // namespace winnow::harness
