#pragma once

namespace winnow::test {

/// The begin of a shell script that stands in for Python: it says from where it imports.
inline constexpr const char* kPythonStandIn =
    "#!/bin/sh\nif [ \"$1\" = -c ]; then echo \"[\\\"$0\\\", \\\"/usr\\\", \\\"/usr\\\"]\"; exit; "
    "fi\n";

} // namespace winnow::test
