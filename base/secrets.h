#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace winnow {

/// Remembers a secret of this process, for example the key of an endpoint. Less than 6 bytes
/// are no secret: words such as "none" occur in other texts.
void keep_secret(std::string_view secret);

/// Takes the variable out of the environment, also out of the block that /proc/PID/environ shows.
/// So neither a child nor a reader of /proc gets it. nullopt: it is not set.
std::optional<std::string> take_variable(const std::string& name);

/// Replaces each secret of this process by "[key]". Everything that goes into a store, a log or a
/// recording passes through here. The time is linear in the text.
void cut_secrets(std::string& text);
std::string without_secrets(std::string text);

/// A secret of this user on this machine, 64 hex digits: the file `secret` in
/// user_state_directory(). The first call creates it (mode 0600, its folder 0700). Empty if it
/// cannot be created or if another user could have written or read it.
std::string user_secret();

/// A keyed digest of `text`, which only who reads user_secret() can make: what carries it was
/// written by this user on this machine. `purpose` keeps the seals of different things apart. Empty
/// if there is no secret.
std::string user_seal(std::string_view purpose, std::string_view text);

} // namespace winnow
