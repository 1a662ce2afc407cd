#include "base/files.h"
#include "harness/run/state/journal.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct JournalTest : ::testing::Test {
  TemporaryDirectory directory{"journal-test"};
  std::filesystem::path path = directory.path() / "store.db";
  store::RunStore store{path, store::RunStore::Mode::ReadWrite};
  Journal journal{store, store.create_run("run", nullptr, nullptr)};

  /// That another process sees.
  std::size_t durable_events() const {
    const store::RunStore reader(path, store::RunStore::Mode::ReadOnly);
    return reader.events(journal.run()).size();
  }
};

TEST_F(JournalTest, WhatABatchStartsBeginsWhenAllOfTheBatchIsDurable) {
  std::vector<std::size_t> seen;
  journal.batch([&] {
    journal.event("first", {});
    journal.when_durable([&] { seen.push_back(durable_events()); });
    journal.event("second", {});
    journal.when_durable([&] { seen.push_back(durable_events()); });
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(durable_events(), 0U);
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{2, 2}));
}

TEST_F(JournalTest, OutsideOfABatchAnActionBeginsAtOnce) {
  journal.event("first", {});
  std::size_t seen = 0;
  journal.when_durable([&] { seen = durable_events(); });
  EXPECT_EQ(seen, 1U);
}

TEST_F(JournalTest, ABatchThatFailsStoresNothingAndStartsNothing) {
  bool started = false;
  const auto fail = [&] {
    journal.event("first", {});
    journal.when_durable([&] { started = true; });
    throw std::runtime_error("killed");
  };
  EXPECT_THROW(journal.batch(fail), std::runtime_error);
  EXPECT_EQ(durable_events(), 0U);
  journal.batch([&] { journal.event("next", {}); });
  EXPECT_FALSE(started);
  EXPECT_EQ(durable_events(), 1U);
}

} // namespace
} // namespace winnow::harness
