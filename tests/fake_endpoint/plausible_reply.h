#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/question.h"

namespace winnow::tests {

/// A reply that improves nothing: the last kernel file of the prompt, unchanged, or a short text if
/// there is none. The number of tokens is a quarter of the number of bytes.
FakeReply plausible_reply(const Question& question);

} // namespace winnow::tests
