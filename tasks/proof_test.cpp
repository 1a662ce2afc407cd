#include "base/files.h"
#include "tasks/proof.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

struct Proofs : ::testing::Test {
  Proofs() { setenv("XDG_STATE_HOME", (directory_.path() / "state").c_str(), 1); }
  ~Proofs() override { unsetenv("XDG_STATE_HOME"); }

  TemporaryDirectory directory_{"proof-test"};
  ProofSubject own_{"mine", "d1", true, "./mine"}, listed_{"axpy", "d2", false, "axpy"};
};

TEST_F(Proofs, AnOwnTaskThatNoSelftestHasProvenIsNamed) {
  EXPECT_EQ(unproven_note(own_, "cpu"),
            "the task mine is not proven on cpu: run `winnow tasks selftest ./mine --device cpu`");
  keep_proof("d1", "cpu", true);
  EXPECT_EQ(unproven_note(own_, "cpu"), "");
  EXPECT_NE(unproven_note(own_, "cuda"), "") << "each kind of device for itself";
  own_.digest = "d3";
  EXPECT_NE(unproven_note(own_, "cpu"), "") << "each revision for itself";
}

TEST_F(Proofs, TheDeviceOfAStoreIsOneWordOfTheCommand) {
  EXPECT_EQ(unproven_note(own_, "cpu; x"), "the task mine is not proven on 'cpu; x': run `winnow "
                                           "tasks selftest ./mine --device 'cpu; x'`");
}

TEST_F(Proofs, ATaskOfTheCatalogueIsNamedOnlyAfterItsSelftestHasFailed) {
  EXPECT_EQ(unproven_note(listed_, "cpu"), "");
  keep_proof("d2", "cpu", false);
  EXPECT_EQ(unproven_note(listed_, "cpu"), "the task axpy is not proven on cpu, its last selftest "
                                           "did not prove it: run `winnow tasks selftest "
                                           "axpy --device cpu`");
  keep_proof("d2", "cpu", true);
  EXPECT_EQ(unproven_note(listed_, "cpu"), "");
}

TEST_F(Proofs, SeveralTasksShareOneWarning) {
  std::vector<Task> tasks(7);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].digest = tasks[i].name;
    tasks[i].folder = directory_.path() / tasks[i].name;
  }
  keep_proof("t0", "cpu", true);
  EXPECT_EQ(unproven_warning(tasks, "cpu"),
            "warning: 6 tasks are not proven on cpu: t1, t2, t3, t4, t5, ...: run `winnow tasks "
            "selftest` for each\n");
  tasks.resize(1);
  EXPECT_EQ(unproven_warning(tasks, "cpu"), "");
}

} // namespace
} // namespace winnow::tasks
