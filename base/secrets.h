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

} // namespace winnow
