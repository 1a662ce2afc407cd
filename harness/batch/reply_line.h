#pragma once

#include "agents/wire/wire_format.h"

#include <string_view>

namespace winnow::harness {

/// Decodes one line of replies. Three forms are accepted: a line of a provider's batch output;
/// {"custom_id","reply"} with any other member of a recorded call; a recorded call. The id may be a
/// call's key. usage_known is false if the source counted no tokens. Throws Error with the expected
/// form.
agents::BatchAnswer decode_reply_line(std::string_view line);

} // namespace winnow::harness
