#include "evaluators/worker/drawn_inputs.h"

#include <cerrno>
#include <cstring>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using GeneratorKind = tasks::GeneratorSpec::Kind;

constexpr std::uint64_t kCount = 300'007; // several threads' worth, the last one's share is smaller
constexpr std::uint64_t kBytes = kCount * sizeof(float);

LargeInput input_of(std::uint64_t seed) {
  return {{{GeneratorKind::HeavyTail, 100, 1}, DType::F32, seed, tasks::hash_name("x")}, kBytes};
}

std::vector<std::byte> drawn(std::uint64_t seed) {
  std::vector<std::byte> bytes(kBytes);
  tasks::generate_tensor({GeneratorKind::HeavyTail, 100, 1}, DType::F32, seed, "x", bytes.data(),
                         kCount);
  return bytes;
}

std::vector<std::byte> contents(int file) {
  std::vector<std::byte> bytes(kBytes);
  EXPECT_EQ(pread(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

ino_t identity(int file) {
  struct stat status {};
  EXPECT_EQ(fstat(file, &status), 0);
  return status.st_ino;
}

RunCase case_of(std::int64_t count, const std::vector<std::uint64_t>& seeds) {
  tasks::Buffer x, y;
  x.name = "x";
  x.generator = {GeneratorKind::HeavyTail, 100, 1};
  y.name = "y";
  y.kind = tasks::Buffer::Kind::Output;
  x.count = y.count = count;
  RunCase run_case;
  run_case.plan.buffers = {x, y};
  run_case.seed = seeds.front();
  if (seeds.size() > 1) {
    run_case.sampling.emplace();
    for (const std::uint64_t seed : seeds) {
      run_case.sampling->slots.push_back({seed, {}});
    }
  }
  return run_case;
}

std::vector<std::uint64_t> seeds_of(const std::vector<LargeInput>& inputs) {
  std::vector<std::uint64_t> seeds;
  for (const LargeInput& input : inputs) {
    seeds.push_back(input.draw.seed);
  }
  return seeds;
}

TEST(Draw, OnManyCoresGivesTheSameBits) {
  std::vector<std::byte> bytes(kBytes);
  draw_elements(input_of(5).draw, bytes);
  EXPECT_EQ(bytes, drawn(5));
  std::vector<std::byte> halves(2 * kCount), expected(2 * kCount);
  draw_elements({{GeneratorKind::Permutation, 1000, 0}, DType::F16, 5, tasks::hash_name("h")},
                halves);
  tasks::generate_tensor({GeneratorKind::Permutation, 1000, 0}, DType::F16, 5, "h", expected.data(),
                         kCount);
  EXPECT_EQ(halves, expected);
}

TEST(Draw, IsEqualToTheBitOnly) {
  const Draw draw = input_of(5).draw;
  Draw other = draw;
  EXPECT_EQ(other, draw);
  other.generator.a = -0.0;
  EXPECT_FALSE(other == draw);
  other = draw;
  other.dtype = DType::BF16;
  EXPECT_FALSE(other == draw);
}

TEST(DrawnInputs, ArePlansInputsThatAreLarge) {
  RunRequest request;
  request.cases = {case_of(kCount, {4}), case_of(100, {5}), case_of(kCount, {6, 7}),
                   case_of(kCount, {4}), case_of(2 * kCount, {4})};
  const std::vector<LargeInput> inputs = large_inputs(request);
  EXPECT_THAT(seeds_of(inputs), testing::ElementsAre(4, 6, 7, 4)) << "x, each once";
  EXPECT_EQ(inputs.front().bytes, kBytes);
  EXPECT_EQ(inputs.front().draw, input_of(4).draw);
  EXPECT_EQ(inputs.back().bytes, 2 * kBytes);
}

TEST(DrawnInputs, AreDrawnOnce) {
  DrawnInputs store;
  const std::vector<int> first = store.lend({input_of(1), input_of(2)});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(contents(first[0]), drawn(1));
  EXPECT_EQ(contents(first[1]), drawn(2));
  const ino_t second = identity(first[1]);
  EXPECT_EQ(identity(store.lend({input_of(3), input_of(2)}).at(1)), second);
}

TEST(DrawnInputs, CannotBeWrittenByAnybody) {
  DrawnInputs store;
  const int file = store.lend({input_of(1)}).at(0);
  const char byte = 0;
  EXPECT_EQ(pwrite(file, &byte, 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(file, 0), -1);
  EXPECT_EQ(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(contents(file), drawn(1));
}

TEST(DrawnInputs, TheOldestGoWhenThereIsNoRoom) {
  DrawnInputs store(2 * kBytes);
  store.lend({input_of(1), input_of(2)});
  const ino_t first = identity(store.lend({input_of(1)}).at(0));
  const std::vector<int> lent = store.lend({input_of(1), input_of(3)});
  EXPECT_EQ(identity(lent.at(0)), first) << "2 was the oldest";
  EXPECT_EQ(contents(lent.at(1)), drawn(3));
  EXPECT_TRUE(store.lend({input_of(1), input_of(2), input_of(3)}).empty());
  EXPECT_EQ(identity(store.lend({input_of(1)}).at(0)), first);
}

TEST(LentInputs, AreReadWhereTheyWereLent) {
  DrawnInputs store;
  RunRequest request;
  request.cases = {case_of(kCount, {8, 9})};
  const std::vector<int> files = store.lend(large_inputs(request));
  constexpr int kFirst = 150;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ASSERT_GE(dup2(files[i], kFirst + static_cast<int>(i)), 0);
  }
  std::vector<std::byte> bytes(kBytes);
  EXPECT_FALSE(LentInputs(request, kFirst).read(input_of(9).draw, bytes)) << "nothing is lent";
  request.inputs_lent = true;
  const LentInputs lent(request, kFirst);
  EXPECT_TRUE(lent.read(input_of(9).draw, bytes));
  EXPECT_EQ(bytes, drawn(9));
  EXPECT_FALSE(lent.read(input_of(7).draw, bytes));
  bytes.pop_back();
  EXPECT_FALSE(lent.read(input_of(9).draw, bytes)) << "of another size";
  for (std::size_t i = 0; i < files.size(); ++i) {
    close(kFirst + static_cast<int>(i));
  }
  bytes.resize(kBytes);
  EXPECT_FALSE(lent.read(input_of(9).draw, bytes)) << "the file is gone";
}

} // namespace
} // namespace winnow::evaluators
