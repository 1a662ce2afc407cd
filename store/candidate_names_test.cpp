#include "base/digest.h"
#include "base/error.h"
#include "store/test_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::store {
namespace {

using ::testing::HasSubstr;

std::string failure(const RunStore& store, const std::string& name) {
  try {
    store.candidate_named(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

struct CandidateNames : ::testing::Test, testing::TestStore {
  std::string prefix(const std::string& text, std::size_t digits = 8) const {
    return sha256_hex(text).substr(0, digits);
  }
};

TEST_F(CandidateNames, AreNumbersAndBeginningsOfDigests) {
  const RowId first = add("axpy/0/0", "a", {testing::correct_evaluation(2)});
  const RowId second = add("axpy/0/1", "b", {testing::correct_evaluation(3)});
  EXPECT_EQ(store.candidate_named(std::to_string(second)), second);
  EXPECT_EQ(store.candidate_named(prefix("a")), first);
  EXPECT_EQ(store.candidate_named(prefix("b", 4)), second);
  EXPECT_EQ(store.candidate_named(sha256_hex("b")), second);
  EXPECT_EQ(store.candidate_named("CA978112"), first); // sha256 of "a" in upper case
}

TEST_F(CandidateNames, OfOneFilePreferTheTaskAndThenTheCorrectOne) {
  add("axpy/0/0", "a", {testing::wrong_evaluation()});
  const RowId correct = add("axpy/0/1", "a", {testing::correct_evaluation(2)});
  const RowId other_task = store.add_task(testing::sample_task("scale"));
  CandidateRow row;
  row.origin = "person";
  row.text = "a";
  const RowId of_other = store.add_candidate(run, other_task, row);
  EXPECT_EQ(store.candidate_named(prefix("a")), correct);
  EXPECT_EQ(store.candidate_named(prefix("a"), "axpy"), correct);
  EXPECT_EQ(store.candidate_named(prefix("a"), "scale"), of_other);
}

TEST_F(CandidateNames, OfAnotherTaskAreRefused) {
  const RowId id = add("axpy/0/0", "a", {testing::correct_evaluation(2)});
  const std::string number = std::to_string(id);
  for (const std::string& name : {number, "@" + number, prefix("a"), "@" + prefix("a")}) {
    EXPECT_EQ(store.candidate_named(name), id) << name;
    EXPECT_EQ(store.candidate_of_task(name, "axpy").row.id, id) << name;
    try {
      store.candidate_of_task(name, "scale");
      ADD_FAILURE() << name;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("is a kernel of task axpy, not of scale")) << name;
    }
  }
  EXPECT_THAT(failure(store, "@@1"), HasSubstr("'@1' names no candidate"));
}

TEST_F(CandidateNames, ThatDoNotExistNameTheNearest) {
  EXPECT_THAT(failure(store, "7"), HasSubstr("no candidates"));
  EXPECT_THAT(failure(store, "ca97"), HasSubstr("begins with ca97"));
  const RowId last = add("axpy/0/0", "a", {});
  EXPECT_THAT(failure(store, "999999"), HasSubstr("the nearest is " + std::to_string(last)));
  EXPECT_THAT(failure(store, "ca98"), HasSubstr("the nearest is ca978112"));
  for (const char* name : {"", "0", "-1", "+1", "abc", "x1", "1 "}) {
    EXPECT_THAT(failure(store, name), HasSubstr("names no candidate")) << name;
  }
}

TEST_F(CandidateNames, ThatSeveralFilesShareAreListed) {
  std::map<std::string, std::string> seen; // beginning of a digest, text
  std::string first, second;
  for (int i = 0; second.empty(); ++i) {
    const std::string text = std::to_string(i);
    const auto [known, is_new] = seen.emplace(prefix(text, 4), text);
    first = is_new ? "" : known->second;
    second = is_new ? "" : text;
  }
  add("axpy/0/0", first, {});
  add("axpy/0/1", second, {});
  const std::string message = failure(store, prefix(first, 4));
  EXPECT_THAT(message, HasSubstr("several kernel files"));
  EXPECT_THAT(message, HasSubstr(prefix(first)));
  EXPECT_THAT(message, HasSubstr(prefix(second)));
}

} // namespace
} // namespace winnow::store
