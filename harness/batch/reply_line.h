#pragma once

#include "agents/wire/wire_format.h"

#include <string_view>

namespace winnow::harness {

/// One line of replies: of a provider's batch output; {"custom_id","reply"}, with any other member
/// of a recorded call; or a recorded call. The id may be a call's key. A reply whose source counted
/// no tokens has usage_known false. Throws Error saying what was expected.
agents::BatchAnswer decode_reply_line(std::string_view line);

} // namespace winnow::harness
