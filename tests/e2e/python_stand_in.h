#pragma once

namespace winnow::test {

/// The begin of a shell script that stands in for Python: it says from where it imports.
inline constexpr const char* kPythonStandIn =
    "#!/bin/sh\n"
    R"(if [ "$1" = -c ]; then echo "{\"folders\": [\"$0\", \"/usr\", \"/usr\"], \"uncompiled\": []}"; exit; fi)"
    "\n";

} // namespace winnow::test
