#pragma once

namespace winnow::evaluators::cpu {

/// Keeps the entry points that modules import (abi.h) in the program. The linker would leave out an
/// archive member without references.
void link_entry_points();
void link_checker_entry_points(); ///< further entry points for instrumented modules

} // namespace winnow::evaluators::cpu
