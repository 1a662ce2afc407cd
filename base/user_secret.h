#pragma once

#include <string>

namespace winnow {

/// A secret of this user on this machine, 64 hex digits: the file `secret` in
/// user_state_directory(). The first call creates it (mode 0600, its folder 0700). Empty if it
/// cannot be created or if another user could have written or read it.
std::string user_secret();

} // namespace winnow
