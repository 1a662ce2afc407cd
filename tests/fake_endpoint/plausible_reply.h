#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/question.h"

namespace winnow::tests {

/// What a model without ideas would say: the last kernel file of the prompt, unchanged, or a short
/// text where there is none. Tokens are a quarter of the bytes.
FakeReply plausible_reply(const Question& question);

} // namespace winnow::tests
