#pragma once

#include "tests/fake_endpoint/fake_reply.h"

#include <string>
#include <vector>

namespace winnow::tests {

/// The faults by name, as tests call them: "429-seconds", "stall-mid-body", ...
const std::vector<std::string>& fault_names();
/// A reply with this fault. Throws std::runtime_error with the known names for an unknown one.
FakeReply faulty_reply(const std::string& name);

} // namespace winnow::tests
