#include "base/files.h"
#include "evaluators/device/inspect/elf_reader.h"

#include <cstring>
#include <random>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::Contains;

// A shared object that every dynamically linked program loads.
std::string a_shared_object() {
  for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6",
                           "/lib64/libm.so.6"}) {
    if (std::filesystem::exists(path)) {
      return read_file(path, 1U << 30U);
    }
  }
  return {};
}

void read_everything(const std::string& bytes) {
  const ElfReader reader(bytes);
  reader.dynamic_symbols();
  reader.all_symbols();
  reader.undefined_symbols();
  reader.read_symbol("expf");
  reader.dynamic_tags();
  reader.relocation_types();
  for (const ElfSection& section : reader.sections()) {
    reader.section_bytes(section);
  }
}

TEST(ElfReader, ReadsASharedObject) {
  const std::string bytes = a_shared_object();
  if (bytes.empty()) {
    GTEST_SKIP() << "no libm.so.6 where it is expected";
  }
  const ElfReader reader(bytes);
  EXPECT_TRUE(reader.has_section(".dynsym"));
  EXPECT_FALSE(reader.has_section(".no_such"));
  EXPECT_TRUE(reader.read_symbol("expf"));
  EXPECT_FALSE(reader.read_symbol("no_such_symbol"));
  EXPECT_EQ(reader.read_symbol("signgam"), std::string(4, '\0')); // an int in .bss
  EXPECT_THAT(reader.dynamic_tags(), Contains(DT_NEEDED));
  EXPECT_FALSE(reader.undefined_symbols().empty());
  EXPECT_FALSE(reader.relocation_types().empty());
}

TEST(ElfReader, RefusesWhatIsNoElfFile) {
  EXPECT_THROW(read_everything(""), ElfError);
  EXPECT_THROW(read_everything("\x7f"
                               "ELF"),
               ElfError);
  EXPECT_THROW(read_everything(std::string(4096, 'x')), ElfError);
  EXPECT_THROW(ElfReader::open("/no/such/file"), ElfError);
}

TEST(ElfReader, RefusesTruncatedFiles) {
  const std::string bytes = a_shared_object();
  if (bytes.empty()) {
    GTEST_SKIP() << "no libm.so.6 where it is expected";
  }
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 97) {
    EXPECT_THROW(read_everything(bytes.substr(0, size)), ElfError) << size;
  }
}

// Whatever bytes are flipped, the file is read or an ElfError is thrown. Sanitizer builds detect
// bad accesses.
TEST(ElfReader, SurvivesFlippedBytes) {
  const std::string good = a_shared_object();
  if (good.empty()) {
    GTEST_SKIP() << "no libm.so.6 where it is expected";
  }
  Elf64_Ehdr header;
  std::memcpy(&header, good.data(), sizeof header);
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bad = good;
    const bool in_header = round % 2 == 0;
    const std::size_t base = in_header ? 0 : header.e_shoff;
    const std::size_t span = in_header ? sizeof header : bad.size() - base;
    for (int flips = 0; flips < 4; ++flips) {
      bad[base + random() % span] = static_cast<char>(random());
    }
    try {
      read_everything(bad);
    } catch (const ElfError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

} // namespace
} // namespace winnow::evaluators
