#pragma once

#include "base/error.h"

#include <string>

namespace winnow::remote {

/// "what; remedy", on one line.
inline std::string with_remedy(const Error& error) {
  return error.what() + (error.remedy().empty() ? "" : "; " + error.remedy());
}

} // namespace winnow::remote
