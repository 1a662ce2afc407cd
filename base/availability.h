#pragma once

#include <string>

namespace winnow {

/// Whether Winnow can use a part of the machine (a tool, library or device).
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
