#pragma once

#include <set>
#include <string>

namespace winnow::test {

/// What must not depend on how a run got its replies: a line for each candidate with its call,
/// text, verdict, its parent's call and its rank (without these two in sanitizer builds, whose
/// times are not the kernels'). Fails the test when a candidate is there twice.
std::set<std::string> run_account(const std::string& store);

} // namespace winnow::test
