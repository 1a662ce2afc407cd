#pragma once

#include <string>

namespace winnow {

/// Whether something of the machine can be used. When not: why, and what to install or change.
struct Availability {
  bool ok = false;
  std::string detail; ///< when ok: what was found (version, path)
  std::string why;    ///< when not ok: the reason
  std::string remedy; ///< when not ok: what the user can do

  static Availability yes(std::string detail) { return {true, std::move(detail), {}, {}}; }
  static Availability no(std::string why, std::string remedy) {
    return {false, {}, std::move(why), std::move(remedy)};
  }
};

} // namespace winnow
