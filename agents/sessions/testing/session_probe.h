#pragma once

#include <string>
#include <vector>

namespace winnow::agents::test {

/// Something that a session tried.
struct SessionAttempt {
  std::string name; ///< "read a file of the user's home"
  bool worked = false;
};

/// Runs a session whose agent tries to read and to write what lies around it. The order is the same
/// at both levels. The program must answer `_exec` (process/session_fence.h).
std::vector<SessionAttempt> probe_session(bool fenced);

} // namespace winnow::agents::test
