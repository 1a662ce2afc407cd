#pragma once

#include <string>

namespace winnow {

/// "2026-11-20T09:44:26.123Z" as "2026-11-20 09:44".
std::string minute_text(std::string time);

} // namespace winnow
