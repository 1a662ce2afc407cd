#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "harness/commands/kernels/kernel_text.h"
#include "store/run_store.h"

#include <iostream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kText = "a kernel";

struct KernelTexts : testing::Test {
  KernelTexts() {
    store::RunStore writable(store_path, store::RunStore::Mode::ReadWrite);
    const store::RowId run = writable.create_run("first", nullptr, nullptr);
    tasks::Task task;
    task.name = task.digest = "axpy";
    store::CandidateRow row;
    row.origin = "person";
    row.text = kText;
    candidate = writable.add_candidate(run, writable.add_task(task), row);
    tasks::Evaluation evaluation;
    evaluation.verdict = tasks::Verdict::Correct;
    evaluation.parameters = {{"BLOCK", 256}, {"VEC", 4}};
    writable.add_evaluations(candidate, {evaluation});
  }
  KernelText read(const std::string& name) { return read_kernel(name, store, "axpy"); }

  TemporaryDirectory directory{"kernel-text-test"};
  std::string store_path = directory.path() / "store.db";
  CommandStore store{store_path};
  store::RowId candidate = 0;
};

TEST_F(KernelTexts, AreFilesOrCandidates) {
  const std::string path = directory.path() / "k.cu";
  write_file_atomic(path, "of a file");
  EXPECT_EQ(read(path).text, "of a file");
  EXPECT_EQ(read(path).name, path);
  const std::string number = "@" + std::to_string(candidate);
  for (const std::string& name :
       {number, "@" + sha256_hex(kText).substr(0, 4), sha256_hex(kText).substr(0, 8)}) {
    const KernelText kernel = read(name);
    EXPECT_EQ(kernel.text, kText) << name;
    EXPECT_EQ(kernel.name, number) << name;
    EXPECT_THAT(assignments_of(kernel.parameters), ElementsAre("BLOCK=256", "VEC=4")) << name;
  }
  EXPECT_EQ(stem_of(number), "candidate-" + std::to_string(candidate));
  EXPECT_EQ(stem_of(path), "k");
}

/// std::cin reads the text.
struct Piped {
  explicit Piped(const std::string& text) : in(text), before(std::cin.rdbuf(in.rdbuf())) {
    std::cin.clear();
  }
  ~Piped() { std::cin.rdbuf(before); }
  Piped(const Piped&) = delete;
  Piped& operator=(const Piped&) = delete;
  std::istringstream in;
  std::streambuf* before;
};

TEST_F(KernelTexts, FromAPipeHaveAName) {
  for (const char* name : {"-", "/dev/stdin", "/dev/fd/0"}) {
    const Piped piped(std::string("a kernel\0from a pipe\n", 21));
    check_kernels({name}, store, "axpy"); // takes no bytes
    const KernelText kernel = read(name);
    EXPECT_EQ(kernel.text.size(), 21U) << name;
    EXPECT_EQ(kernel.name, "standard input") << name;
    EXPECT_EQ(stem_of(kernel.name), "kernel");
  }
  EXPECT_THROW(check_kernels({"-", "/dev/stdin"}, store, "axpy"), UsageError);
}

TEST_F(KernelTexts, OfAnotherTaskAreRefused) {
  const std::string name = "@" + std::to_string(candidate);
  try {
    read_kernel(name, store, "gemm_f32");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a kernel of task axpy, not of gemm_f32"));
  }
  EXPECT_THROW(read("@"), UsageError);
  EXPECT_THROW(read("@999"), UsageError);
  EXPECT_THROW(read("no_such_file.cu"), UsageError);
}

} // namespace
} // namespace winnow::harness
