#pragma once

#include <set>
#include <string>

namespace winnow::test {

/// Everything that must not depend on the way in which a run got its replies: a line for each
/// candidate with its call, text and verdict, its parent's call and its place on the board.
/// Builds with sanitizers leave out parent and place, because their times are not those of the
/// kernels. Fails the test if a candidate appears twice.
std::set<std::string> run_account(const std::string& store);

} // namespace winnow::test
