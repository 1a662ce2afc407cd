#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/inspect/cache_entry.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

GpuModuleFile sample() {
  return {"sm_90a",
          {{"softmax<128>", "_Z7softmaxILi128EEvPf"}, {"plain", "plain"}},
          {std::byte{0x7f}, std::byte{'\n'}, std::byte{0}, std::byte{0xff}}};
}

TEST(GpuModule, ReadsWhatItWrites) {
  const GpuModuleFile read = decode_gpu_module(encode(sample()));
  EXPECT_EQ(read.architecture, "sm_90a");
  EXPECT_EQ(read.symbols, sample().symbols);
  EXPECT_EQ(read.image, sample().image);
}

TEST(GpuModule, ReadsFilesAndNamesTheOnesItCannotRead) {
  const TemporaryDirectory directory("gpu-module");
  const auto path = directory.path() / "k.module";
  write_file_atomic(path, encode(sample()));
  EXPECT_EQ(read_gpu_module(path).image, sample().image);
  write_file_atomic(path, encode(CacheEntry{encode(sample()), "{}"}));
  EXPECT_EQ(read_gpu_module(path).image, sample().image);
  write_file_atomic(path, "nothing");
  try {
    read_gpu_module(path);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("k.module"));
  }
  EXPECT_THROW(read_gpu_module(directory.path() / "missing"), Error);
}

TEST(GpuModule, RefusesEveryTruncation) {
  const std::string whole = encode(sample());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(decode_gpu_module(whole.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(decode_gpu_module(whole + "x"), Error);
}

TEST(GpuModule, RefusesOtherVersionsAndNamesThatAreNone) {
  EXPECT_THROW(decode_gpu_module("{\"winnow_gpu_module\":1,\"architecture\":\"sm_90a\","
                                 "\"symbols\":{},\"image_bytes\":1}\nx"),
               Error);
  GpuModuleFile bad = sample();
  bad.symbols["k"] = "a\nb";
  EXPECT_THROW(decode_gpu_module(encode(bad)), Error);
  bad = sample();
  bad.architecture.clear();
  EXPECT_THROW(decode_gpu_module(encode(bad)), Error);
  bad = sample();
  bad.image.clear();
  EXPECT_THROW(decode_gpu_module(encode(bad)), Error);
}

} // namespace
} // namespace winnow::evaluators
