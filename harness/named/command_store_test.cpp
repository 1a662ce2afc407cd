#include "base/error.h"
#include "base/files.h"
#include "harness/named/named_task.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

struct CommandStores : testing::Test {
  TemporaryDirectory directory{"command-store-test"};
  std::string path = directory.path() / "store.db";
};

TEST_F(CommandStores, AreOpenedOnce) {
  CommandStore kept(path, CommandStore::Use::Keep);
  store::RunStore& written = kept.to_keep();
  EXPECT_EQ(&kept.to_read(), &written);
  EXPECT_EQ(&kept.to_keep(), &written);
  CommandStore read(path);
  EXPECT_EQ(&read.to_read(), &read.to_read());
}

TEST_F(CommandStores, AreNotCreatedToBeRead) {
  CommandStore read(path), kept(path, CommandStore::Use::Keep);
  EXPECT_THROW(read.to_read(), UsageError);
  EXPECT_THROW(kept.to_read(), UsageError);
  EXPECT_FALSE(std::filesystem::exists(path));
  kept.to_keep();
  EXPECT_NO_THROW(read.to_read());
}

TEST_F(CommandStores, ThatCannotBeWrittenAreFoundOutAtOnce) {
  CommandStore(path).open_if_kept();
  EXPECT_FALSE(std::filesystem::exists(path));
  CommandStore kept(path, CommandStore::Use::Keep);
  kept.open_if_kept();
  EXPECT_TRUE(std::filesystem::exists(path));
  CommandStore folder(directory.path(), CommandStore::Use::Keep);
  EXPECT_THROW(folder.open_if_kept(), Error);
}

TEST_F(CommandStores, ThatAreReadGetNothing) {
  EXPECT_FALSE(CommandStore("", CommandStore::Use::Keep).keeps());
  CommandStore read(path);
  EXPECT_FALSE(read.keeps());
  EXPECT_THROW(read.to_keep(), Error);
}

} // namespace
} // namespace winnow::harness
