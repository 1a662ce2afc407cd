#include "base/error.h"
#include "base/files.h"
#include "profiling/roofline/ceilings.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

const CeilingsOwner kOwner{"NVIDIA H200", "GPU-0011", "CUDA 12.8"};

Ceilings sample() {
  Ceilings ceilings;
  ceilings.owner = kOwner;
  ceilings.date = "2026-11-22T00:00:00.000Z";
  ceilings.bandwidth = {
      {1e6, 8e12, "L2"}, {1e7, 8e12, "L2"}, {1e9, 4e12, "DRAM"}, {4e9, 4.2e12, "DRAM"}};
  ceilings.rates = {{"f32", 6e13}, {"f16_tensor", 9e14}};
  ceilings.no_rate = {{"f8_tensor", "the compiler refuses it"}};
  ceilings.launch_overhead_ns = 2100;
  return ceilings;
}

class CeilingsFile : public testing::Test {
protected:
  fs::path path() const { return directory_.path() / ceilings_file_name(kOwner); }
  void write(const std::string& text) const { write_file_atomic(path(), text); }
  bool is_refused() const { return !load_ceilings(path(), kOwner); }

private:
  TemporaryDirectory directory_{"ceilings"};
};

TEST(Ceilings, InterpolateBandwidthInLogarithms) {
  const Ceilings ceilings = sample();
  EXPECT_NEAR(ceilings.bandwidth_at(1e7)->bytes_per_second, 8e12, 1);
  // Halfway between 1e7 and 1e9 on a logarithmic axis: the geometric mean.
  EXPECT_NEAR(ceilings.bandwidth_at(1e8)->bytes_per_second, std::sqrt(8e12 * 4e12), 1e6);
  EXPECT_EQ(ceilings.bandwidth_at(0.9e8)->level, "L2");
  EXPECT_EQ(ceilings.bandwidth_at(1.1e8)->level, "DRAM");
}

TEST(Ceilings, TakeTheNearestBeyondWhatWasMeasured) {
  const Ceilings ceilings = sample();
  EXPECT_DOUBLE_EQ(ceilings.bandwidth_at(10)->bytes_per_second, 8e12);
  EXPECT_EQ(ceilings.bandwidth_at(10)->level, "L2");
  EXPECT_DOUBLE_EQ(ceilings.bandwidth_at(1e12)->bytes_per_second, 4.2e12);
  EXPECT_FALSE(ceilings.bandwidth_at(0));
  EXPECT_FALSE(ceilings.bandwidth_at(std::nan("")));
  EXPECT_FALSE(Ceilings{}.bandwidth_at(1e6));
}

TEST(Ceilings, TakeDramFromTheLargestWorkingSet) {
  Ceilings ceilings = sample();
  EXPECT_DOUBLE_EQ(ceilings.dram()->bytes_per_second, 4.2e12);
  ceilings.bandwidth.resize(2);
  EXPECT_FALSE(ceilings.dram());
}

TEST(Ceilings, KnowOnlyMeasuredRates) {
  EXPECT_EQ(sample().rate("f32"), 6e13);
  EXPECT_FALSE(sample().rate("f8_tensor"));
}

TEST(Ceilings, AreFiledByDeviceAndDriver) {
  EXPECT_THAT(ceilings_file_name(kOwner), MatchesRegex("ceilings-nvidia-h200-[0-9a-f]+\\.json"));
  EXPECT_NE(ceilings_file_name(kOwner), ceilings_file_name({"NVIDIA H200", "GPU-0011", "13.0"}));
  EXPECT_NE(ceilings_file_name(kOwner), ceilings_file_name({"NVIDIA H200", "GPU-2", "CUDA 12.8"}));
  EXPECT_THAT(ceilings_file_name({"../../etc/x", "", ""}), testing::Not(HasSubstr("/")));
}

TEST_F(CeilingsFile, ComesBackAsItWas) {
  save_ceilings(path(), sample());
  const auto loaded = load_ceilings(path(), kOwner);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(nlohmann::json(*loaded), nlohmann::json(sample()));
  EXPECT_EQ(loaded->launch_overhead_ns, 2100);
  EXPECT_EQ(loaded->bandwidth.size(), 4U);
}

TEST_F(CeilingsFile, IsMeasuredAgainWhenMissingOrTruncated) {
  EXPECT_TRUE(is_refused());
  const std::string text = nlohmann::json(sample()).dump();
  for (const std::size_t length : {std::size_t{0}, text.size() / 2, text.size() - 1}) {
    write(text.substr(0, length));
    EXPECT_TRUE(is_refused()) << length;
  }
  for (const char* other : {"null", "[]", "3", "{\"version\": \"x\"}", "\xff\xfe"}) {
    write(other);
    EXPECT_TRUE(is_refused()) << other;
  }
  fs::remove(path());
  fs::create_directory(path());
  EXPECT_TRUE(is_refused());
}

TEST_F(CeilingsFile, IsMeasuredAgainForAnotherVersionOrDevice) {
  nlohmann::json json = sample();
  json["version"] = 0;
  write(json.dump());
  EXPECT_TRUE(is_refused());
  json = sample();
  json["driver"] = "CUDA 11.0";
  write(json.dump());
  EXPECT_TRUE(is_refused());
}

TEST_F(CeilingsFile, IsMeasuredAgainWhenItHoldsWhatNobodyMeasured) {
  nlohmann::json json = sample();
  json["rates"]["f32"] = -1;
  write(json.dump());
  EXPECT_TRUE(is_refused());
  json = sample();
  json["bandwidth"][1]["bytes"] = 1e6; // the same size twice
  write(json.dump());
  EXPECT_TRUE(is_refused());
  json = sample();
  json["launch_overhead_ns"] = 0;
  write(json.dump());
  EXPECT_TRUE(is_refused());
}

TEST_F(CeilingsFile, ThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(save_ceilings("/nowhere/at/all/ceilings.json", sample()), Error);
}

} // namespace
} // namespace winnow::profiling
