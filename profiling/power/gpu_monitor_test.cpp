#include "profiling/power/gpu_monitor.h"

#include <cstdlib>
#include <map>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kUuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";

class GpuMonitorTest : public testing::Test {
protected:
  void SetUp() override {
    use(WINNOW_NVML_DOUBLE);
    answer("UUID", kUuid);
  }
  void TearDown() override {
    for (const std::string& name : set_) {
      unsetenv(name.c_str());
    }
    unsetenv("WINNOW_NVML_LIBRARY");
  }
  static void use(const char* library) { setenv("WINNOW_NVML_LIBRARY", library, 1); }
  void answer(const std::string& name, const char* value) {
    set_.push_back("WINNOW_TEST_NVML_" + name);
    setenv(set_.back().c_str(), value, 1);
  }
  void answer_all() {
    answer("SM_CLOCK", "1980");
    answer("MEMORY_CLOCK", "2619");
    answer("TEMPERATURE", "41");
    answer("POWER", "650500");
    answer("ENERGY", "123456789012");
    answer("REASONS", "0x24");
  }

private:
  std::vector<std::string> set_;
};

TEST_F(GpuMonitorTest, ReadsWhatTheDriverTells) {
  answer_all();
  answer("INSTANT_POWER", "700250");
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  ASSERT_TRUE(opened.availability.ok) << opened.availability.why;
  EXPECT_THAT(opened.availability.detail, HasSubstr("driver 999.99.01"));
  const GpuState state = opened.monitor->state();
  EXPECT_EQ(state.sm_clock_mhz, 1980);
  EXPECT_EQ(state.memory_clock_mhz, 2619);
  EXPECT_EQ(state.temperature_c, 41);
  EXPECT_EQ(state.power_w, 700.25);
  EXPECT_EQ(opened.monitor->energy_mj(), 123456789012.0);
  EXPECT_THAT(state.throttle_reasons.value(), ElementsAre("power_cap", "thermal_slowdown"));
}

TEST_F(GpuMonitorTest, LeavesOutWhatIsNotSupported) {
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  ASSERT_TRUE(opened.monitor) << opened.availability.why;
  const GpuState state = opened.monitor->state();
  EXPECT_FALSE(state.sm_clock_mhz);
  EXPECT_FALSE(state.memory_clock_mhz);
  EXPECT_FALSE(state.temperature_c);
  EXPECT_FALSE(state.power_w);
  EXPECT_FALSE(opened.monitor->energy_mj());
  EXPECT_FALSE(state.throttle_reasons);
  EXPECT_TRUE(nlohmann::json(state).at("power_w").is_null());
}

TEST_F(GpuMonitorTest, FallsBackToAveragePower) {
  answer("POWER", "650500");
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  ASSERT_TRUE(opened.monitor);
  EXPECT_EQ(opened.monitor->power_w(), 650.5);
}

TEST_F(GpuMonitorTest, TakesFieldsOfAnyType) {
  answer("INSTANT_POWER", "700000");
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  ASSERT_TRUE(opened.monitor);
  for (const char* type : {"0", "1", "2", "3", "4", "5"}) {
    answer("INSTANT_POWER_TYPE", type);
    EXPECT_EQ(opened.monitor->power_w(), 700) << type;
  }
  answer("INSTANT_POWER_TYPE", "99");
  EXPECT_FALSE(opened.monitor->power_w());
}

TEST_F(GpuMonitorTest, WorksWithAnOldLibrary) {
  use(WINNOW_NVML_DOUBLE_OLD);
  answer_all();
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  ASSERT_TRUE(opened.monitor) << opened.availability.why;
  const GpuState state = opened.monitor->state();
  EXPECT_EQ(state.power_w, 650.5);
  EXPECT_FALSE(opened.monitor->energy_mj());
  EXPECT_THAT(state.throttle_reasons.value(), ElementsAre("power_cap", "thermal_slowdown"));
}

TEST_F(GpuMonitorTest, TellsNoReasonFromAReasonItDoesNotKnow) {
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  ASSERT_TRUE(opened.monitor);
  answer("REASONS", "0");
  EXPECT_THAT(opened.monitor->state().throttle_reasons.value(), IsEmpty());
  answer("REASONS", "0x10001");
  EXPECT_THAT(opened.monitor->state().throttle_reasons.value(),
              ElementsAre("idle", "reason_0x10000"));
}

TEST_F(GpuMonitorTest, FindsTheGpuByBusIdToo) {
  answer("BUS_ID", "0000:17:00.0");
  EXPECT_TRUE(make_gpu_monitor("0000:17:00.0").monitor);
}

TEST_F(GpuMonitorTest, SaysThatTheGpuIsUnknown) {
  for (const char* other : {"GPU-ffffffff-4455-6677-8899-aabbccddeeff", "0000:99:00.0", "0", ""}) {
    const OpenedMonitor opened = make_gpu_monitor(other);
    EXPECT_FALSE(opened.monitor);
    EXPECT_FALSE(opened.availability.ok);
    EXPECT_THAT(opened.availability.why, HasSubstr("Not Found")) << other;
    EXPECT_FALSE(opened.availability.remedy.empty());
  }
}

TEST_F(GpuMonitorTest, SaysWhyNvmlDoesNotStart) {
  for (const char* code : {"9", "18", "4", "999"}) {
    answer("INIT", code);
    const OpenedMonitor opened = make_gpu_monitor(kUuid);
    EXPECT_FALSE(opened.monitor);
    EXPECT_THAT(opened.availability.why, HasSubstr(std::string("error ") + code));
    EXPECT_FALSE(opened.availability.remedy.empty());
  }
}

TEST_F(GpuMonitorTest, SaysThatThereIsNoLibrary) {
  use("/nowhere/libnvidia-ml.so.1");
  const OpenedMonitor opened = make_gpu_monitor(kUuid);
  EXPECT_FALSE(opened.monitor);
  EXPECT_THAT(opened.availability.why, HasSubstr("/nowhere/libnvidia-ml.so.1"));
  EXPECT_THAT(opened.availability.remedy, HasSubstr("WINNOW_NVML_LIBRARY"));
}

TEST_F(GpuMonitorTest, SaysThatALibraryIsNotNvml) {
  use("libc.so.6");
  EXPECT_THAT(make_gpu_monitor(kUuid).availability.why, HasSubstr("libc.so.6 is not NVML"));
}

TEST_F(GpuMonitorTest, EndsWhatItStarted) {
  void* library = dlopen(WINNOW_NVML_DOUBLE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  const auto open = reinterpret_cast<int (*)()>(dlsym(library, "winnow_nvml_double_open"));
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open(), 0);
  {
    const OpenedMonitor opened = make_gpu_monitor(kUuid);
    EXPECT_EQ(open(), 1);
  }
  make_gpu_monitor("GPU-unknown");
  EXPECT_EQ(open(), 0);
}

TEST(GpuState, KeepsWhatThrottlesForAWhile) {
  GpuState state;
  EXPECT_THAT(transient_throttling(state), IsEmpty());
  state.throttle_reasons = {"idle", "clocks_setting", "power_cap", "display_clock_setting"};
  EXPECT_THAT(transient_throttling(state), ElementsAre("power_cap"));
}

TEST(GpuState, SurvivesJson) {
  GpuState state;
  state.sm_clock_mhz = 1980;
  state.throttle_reasons = {"power_cap"};
  const GpuState again = nlohmann::json(state).get<GpuState>();
  EXPECT_EQ(again.sm_clock_mhz, 1980);
  EXPECT_FALSE(again.power_w);
  EXPECT_EQ(again.throttle_reasons, state.throttle_reasons);
}

TEST(GpuUuid, IsWrittenAsNvmlWritesIt) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 0x11);
  }
  EXPECT_EQ(gpu_uuid_text(bytes), kUuid);
}

} // namespace
} // namespace winnow::profiling
