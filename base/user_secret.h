#pragma once

#include <string>
#include <string_view>

namespace winnow {

/// A secret of this user on this machine, 64 hex digits: the file `secret` in
/// user_state_directory(). The first call creates it (mode 0600, its folder 0700). Empty if it
/// cannot be created or if another user could have written or read it.
std::string user_secret();

/// A keyed digest of `text`, which only who reads user_secret() can make: what carries it was
/// written by this user on this machine. `purpose` keeps the seals of different things apart. Empty
/// if there is no secret.
std::string user_seal(std::string_view purpose, std::string_view text);

} // namespace winnow
