#pragma once

namespace winnow::evaluators::cpu {

/// Keeps the entry points that modules import (abi.h) in the program: an archive member that
/// nothing refers to would be left out.
void link_entry_points();
void link_checker_entry_points(); ///< what instrumented modules import besides

} // namespace winnow::evaluators::cpu
