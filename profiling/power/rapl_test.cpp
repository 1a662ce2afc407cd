#include "base/files.h"
#include "profiling/power/rapl.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Rapl : public testing::Test {
protected:
  void domain(const std::string& directory, const std::string& name, const std::string& energy,
              const std::string& range = "1000000") {
    fs::create_directories(root() / directory);
    std::ofstream(root() / directory / "name") << name << '\n';
    std::ofstream(root() / directory / "max_energy_range_uj") << range << '\n';
    set(directory, energy);
  }
  void set(const std::string& directory, const std::string& energy) {
    std::ofstream(root() / directory / "energy_uj") << energy << '\n';
  }
  fs::path root() const { return directory_.path(); }

private:
  TemporaryDirectory directory_{"rapl"};
};

TEST_F(Rapl, AddsThePackagesAndNothingTwice) {
  domain("intel-rapl:0", "package-0", "100000");
  domain("intel-rapl:1", "package-1", "500000");
  domain("intel-rapl:0:0", "core", "100");
  domain("intel-rapl:2", "psys", "100");
  domain("intel-rapl-mmio:0", "package-0", "100000");
  CpuEnergy energy(root());
  ASSERT_TRUE(energy.availability().ok) << energy.availability().why;
  EXPECT_EQ(energy.availability().detail, "RAPL, 2 packages");
  EXPECT_EQ(energy.energy_mj(), 0);
  set("intel-rapl:0", "130000");
  set("intel-rapl:1", "505000");
  for (const char* other : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"}) {
    set(other, "900000");
  }
  EXPECT_DOUBLE_EQ(energy.energy_mj().value(), 35);
}

TEST_F(Rapl, CountsOnWhereTheCounterWraps) {
  domain("intel-rapl:0", "package-0", "990000", "1000000");
  CpuEnergy energy(root());
  EXPECT_EQ(energy.energy_mj(), 0);
  set("intel-rapl:0", "15000");
  EXPECT_DOUBLE_EQ(energy.energy_mj().value(), 25);
  set("intel-rapl:0", "20000");
  EXPECT_DOUBLE_EQ(energy.energy_mj().value(), 30);
}

TEST_F(Rapl, GivesNothingForAWrapOfUnknownRange) {
  domain("intel-rapl:0", "package-0", "990000", "?");
  CpuEnergy energy(root());
  EXPECT_EQ(energy.energy_mj(), 0);
  set("intel-rapl:0", "15000");
  EXPECT_FALSE(energy.energy_mj());
}

TEST_F(Rapl, SaysThatThereIsNone) {
  CpuEnergy energy(root() / "missing");
  EXPECT_FALSE(energy.availability().ok);
  EXPECT_THAT(energy.availability().why, HasSubstr("has no RAPL packages"));
  EXPECT_FALSE(energy.availability().remedy.empty());
  EXPECT_FALSE(energy.energy_mj());
}

TEST_F(Rapl, SaysWhichFileCannotBeRead) {
  domain("intel-rapl:0", "package-0", "990000");
  fs::remove(root() / "intel-rapl:0" / "energy_uj");
  CpuEnergy missing(root());
  EXPECT_THAT(missing.availability().why, HasSubstr("intel-rapl:0/energy_uj: cannot be read"));
  EXPECT_THAT(missing.availability().remedy, HasSubstr("root"));
  set("intel-rapl:0", "nonsense");
  EXPECT_THAT(CpuEnergy(root()).availability().why, HasSubstr("no number in it"));
}

TEST_F(Rapl, GivesNothingWhenAFileVanishes) {
  domain("intel-rapl:0", "package-0", "990000");
  CpuEnergy energy(root());
  fs::remove(root() / "intel-rapl:0" / "energy_uj");
  EXPECT_FALSE(energy.energy_mj());
}

} // namespace
} // namespace winnow::profiling
