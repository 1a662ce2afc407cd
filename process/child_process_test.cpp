#include "base/error.h"
#include "process/child_process.h"
#include "process/testing/test_pipe.h"

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <seccomp.h>
#include <sys/mman.h>

namespace winnow::process {
namespace {

using namespace std::chrono_literals;
using End = ChildResult::End;
constexpr std::chrono::milliseconds kLong = 20s;

Command shell(const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.environment["PATH"] = "/usr/bin:/bin";
  command.limits.wall = kLong;
  return command;
}

TEST(ChildProcess, GivesOutputAndExitCode) {
  const ChildResult result = run_child(shell("cat; echo problem >&2; exit 7"), "hello");
  EXPECT_EQ(result.end, End::Exited);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.out, "hello");
  EXPECT_EQ(result.err, "problem\n");
  EXPECT_EQ(describe(result), "exited with 7");
}

TEST(ChildProcess, NamesTheSignal) {
  const ChildResult result = run_child(shell("kill -SEGV $$"), "");
  EXPECT_EQ(result.end, End::Signaled);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(describe(result), "killed by SIGSEGV");
}

TEST(ChildProcess, ReadsAWrappersExitCodeAsSignalOnlyWhenAsked) {
  Command command = shell("exit 139");
  EXPECT_EQ(run_child(command, "").exit_code, 139);
  command.signals_as_exit_codes = true;
  EXPECT_EQ(describe(run_child(command, "")), "killed by SIGSEGV");
}

TEST(ChildProcess, SaysWhyItCannotStart) {
  Command command;
  command.argv = {"/no/such/program"};
  const ChildResult result = run_child(command, "");
  EXPECT_EQ(result.end, End::SpawnFailed);
  EXPECT_EQ(describe(result),
            "could not be started: cannot start /no/such/program in /: No such file or directory");
  EXPECT_THROW(ChildProcess{Command{}}, Error);
}

TEST(ChildProcess, EndsAtTheWallClockLimit) {
  Command command = shell("while :; do :; done");
  command.limits.wall = 100ms;
  const ChildResult result = run_child(command, "");
  EXPECT_EQ(result.end, End::WallTimeout);
  EXPECT_GE(result.wall_seconds, 0.1);
  EXPECT_LT(result.wall_seconds, 10);
  EXPECT_NE(describe(result).find("(wall-clock limit)"), std::string::npos);
}

TEST(ChildProcess, EndsWhenCancelled) {
  int asked = 0;
  const ChildResult result = run_child(shell("exec sleep 1000"), "", [&] { return ++asked == 3; });
  EXPECT_EQ(result.end, End::Cancelled);
}

TEST(ChildProcess, EndsWhoPrintsWithoutEnd) {
  for (const char* script : {"exec yes", "exec yes >&2"}) {
    Command command = shell(script);
    command.limits.output_bytes = 10'000;
    const ChildResult result = run_child(command, "");
    EXPECT_EQ(result.end, End::OutputLimit) << script;
    EXPECT_EQ(std::max(result.out.size(), result.err.size()), 10'000U);
    EXPECT_EQ(describe(result), "printed more than 10000 bytes (output limit)");
  }
}

TEST(ChildProcess, CountsOutputOfAChildThatEndedAtOnce) {
  Command command = shell("echo 0123456789");
  command.limits.output_bytes = 5;
  EXPECT_EQ(run_child(command, "").end, End::OutputLimit);
}

TEST(ChildProcess, FeedsAndReadsAtTheSameTime) {
  Command command = shell("exec cat");
  command.limits.output_bytes = 16U << 20U;
  const std::string input(8U << 20U, 'x'); // more than a socket and a pipe hold
  EXPECT_EQ(run_child(command, input).out, input);
}

TEST(ChildProcess, SurvivesAChildThatClosesItsStdin) {
  ChildProcess child(shell("exec 0<&-; echo closed; exec sleep 1000"));
  EXPECT_EQ(child.read_line(kLong), "closed");
  EXPECT_FALSE(child.write(std::string(8U << 20U, 'x'), kLong));
  EXPECT_TRUE(child.running());
}

TEST(ChildProcess, GivesUpWritingToAChildThatDoesNotRead) {
  ChildProcess child(shell("exec sleep 1000"));
  EXPECT_FALSE(child.write(std::string(8U << 20U, 'x'), 50ms));
}

TEST(ChildProcess, TalksInLines) {
  ChildProcess child(shell("while read word; do echo \"<$word>\"; done; printf unfinished"));
  for (const std::string word : {"one", "two"}) {
    ASSERT_TRUE(child.write(word + "\n", kLong));
    EXPECT_EQ(child.read_line(kLong), "<" + word + ">");
  }
  EXPECT_EQ(child.read_line(20ms), std::nullopt); // the child waits for input
  child.close_stdin();
  EXPECT_EQ(child.read_line(kLong), std::nullopt); // an unfinished line is not returned
  EXPECT_EQ(child.wait().out, "unfinished");
}

TEST(ChildProcess, RefusesALineWithoutEnd) {
  Command command = shell("exec tr '\\0' x </dev/zero");
  command.limits.output_bytes = 100'000;
  ChildProcess child(command);
  EXPECT_EQ(child.read_line(kLong), std::nullopt);
  EXPECT_EQ(child.wait().end, End::OutputLimit);
}

TEST(ChildProcess, DoesNotWaitForGrandchildrenAndKillsThem) {
  TestPipe pipe;
  Command command = shell("sleep 1000 & echo started");
  command.fds = {{pipe.write_end(), 3}};
  const ChildResult result = run_child(command, "");
  pipe.close_write_end();
  EXPECT_EQ(result.end, End::Exited);
  EXPECT_EQ(result.out, "started\n");
  EXPECT_TRUE(pipe.all_writers_gone());
}

TEST(ChildProcess, KillsTheGroupWhenItGoes) {
  TestPipe pipe;
  Command command = shell("sleep 1000 & echo started; wait");
  command.fds = {{pipe.write_end(), 3}};
  {
    ChildProcess child(command);
    EXPECT_EQ(child.read_line(kLong), "started");
    pipe.close_write_end();
  }
  EXPECT_TRUE(pipe.all_writers_gone());
}

TEST(ChildProcess, IsKilledOnRequest) {
  ChildProcess child(shell("exec sleep 1000"));
  EXPECT_TRUE(child.running());
  child.kill();
  EXPECT_EQ(describe(child.wait()), "killed by SIGKILL");
  EXPECT_FALSE(child.running());
  EXPECT_EQ(describe(child.wait()), "killed by SIGKILL"); // wait() returns the same result again
}

TEST(ChildProcess, InheritsNoVariables) {
  Command command;
  command.argv = {"/usr/bin/env"};
  EXPECT_EQ(run_child(command, "").out, "");
  command.environment["ONLY"] = "this";
  EXPECT_EQ(run_child(command, "").out, "ONLY=this\n");
}

TEST(ChildProcess, StartsInTheGivenDirectory) {
  Command command = shell("pwd");
  EXPECT_EQ(run_child(command, "").out, "/\n");
  command.working_directory = "/usr";
  EXPECT_EQ(run_child(command, "").out, "/usr\n");
}

TEST(ChildProcess, LeaksNoDescriptors) {
  constexpr int kBelow = 50;
  constexpr int kAbove = 70;
  ASSERT_EQ(dup2(2, kBelow), kBelow); // without CLOEXEC, like a careless library
  ASSERT_EQ(dup2(2, kAbove), kAbove);
  Command command = shell("for n in 3 50 60 70; do [ -e /proc/self/fd/$n ] && echo $n; done");
  command.fds = {{2, 60}};
  EXPECT_EQ(run_child(command, "").out, "60\n");
  close(kBelow);
  close(kAbove);
}

int memory_file(const std::string& text) {
  const int fd = memfd_create("test", MFD_CLOEXEC);
  EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
  return fd;
}

TEST(ChildProcess, PlacesDescriptorsThatSwapOrKeepTheirNumbers) {
  const int a = memory_file("a");
  const int b = memory_file("b");
  const int kept = memory_file("kept"); // keeps its number, so CLOEXEC must be cleared
  Command command = shell("cat /dev/fd/" + std::to_string(a) + " /dev/fd/" + std::to_string(b) +
                          " /dev/fd/" + std::to_string(kept));
  command.fds = {{a, b}, {b, a}, {kept, kept}};
  EXPECT_EQ(run_child(command, "").out, "bakept");
  command.fds = {{a, 5}, {b, 5}};
  EXPECT_EQ(run_child(command, "").end, End::SpawnFailed);
  for (const int fd : {a, b, kept}) {
    close(fd);
  }
}

TEST(ChildProcess, ResetsSignals) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const ChildResult result =
      run_child(shell("while read name value; do case $name in SigBlk:|SigIgn:) "
                      "echo $value;; esac; done </proc/self/status"),
                "");
  std::signal(SIGPIPE, before);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  // Signals 32 and 33 belong to the C library, which leaves them ignored.
  EXPECT_THAT(result.out, testing::MatchesRegex("0000000000000000\n0000000[01]80000000\n|"
                                                "0000000000000000\n0000000000000000\n"));
}

TEST(ChildProcess, MeasuresCpuTime) {
  const ChildResult result =
      run_child(shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"), "");
  EXPECT_GT(result.cpu_seconds, 0);
  EXPECT_GE(result.wall_seconds, 0.5 * result.cpu_seconds);
}

TEST(ChildProcess, IsStartedFromManyThreadsAtOnce) {
  std::vector<std::string> answers(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back(
        [&answers, i] { answers[i] = run_child(shell("cat"), std::to_string(i)).out; });
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads[i].join();
    EXPECT_EQ(answers[i], std::to_string(i));
  }
}

/// As in the sandboxes of some coding agents.
void refuse_sockets() {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  for (const char* name : {"socket", "socketpair", "sendto", "sendmsg", "sendmmsg"}) {
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), seccomp_syscall_resolve_name(name), 0);
  }
  ASSERT_EQ(seccomp_load(filter), 0);
  seccomp_release(filter);
}

TEST(ChildProcessDeathTest, NeedsNoSockets) {
  EXPECT_EXIT(
      {
        refuse_sockets();
        const ChildResult result = run_child(shell("cat"), std::string(1'000'000, 'x'));
        std::exit(result.out.size() == 1'000'000 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace winnow::process
