// SPDX-License-Identifier: MIT
// Names of events: generic ones, raw ones, those of a PMU under a sysfs of the test's own, and why one cannot be
// counted.
#include <catch2/catch.hpp>

#include "pmu_machine.h"
#include "recording/pmu/events.h"
#include "recording/pmu/sysfs.h"

namespace test_pmu_events {

using namespace monitor::pmu;
using Catch::Contains;
using samples::PmuMachine;

namespace {

std::string encoded(const Event &event)
{
	const perf_event_attr &it = event.attributes;
	char text[64];
	std::snprintf(text, sizeof text, "%u:%llx:%llx", it.type, static_cast<unsigned long long>(it.config),
		      static_cast<unsigned long long>(it.config1));
	return text;
}

} // namespace

TEST_CASE("pmu: generic names are encoded as the kernel's header has them")
{
	const PmuMachine test;
	const std::pair<const char *, const char *> known[] = {{"cycles", "0:0:0"},
							       {"cpu-cycles", "0:0:0"},
							       {"instructions", "0:1:0"},
							       {"cache-misses", "0:3:0"},
							       {"branches", "0:4:0"},
							       {"branch-instructions", "0:4:0"},
							       {"ref-cycles", "0:9:0"},
							       {"stalled-cycles-backend", "0:8:0"},
							       {"L1-dcache-loads", "3:0:0"},
							       {"L1-dcache-load-misses", "3:10000:0"},
							       {"LLC-load-misses", "3:10002:0"},
							       {"LLC-store-misses", "3:10102:0"},
							       {"dTLB-loads", "3:3:0"},
							       {"iTLB-load-misses", "3:10004:0"},
							       {"branch-load-misses", "3:10005:0"},
							       {"node-prefetches", "3:206:0"},
							       {"cpu-clock", "1:0:0"},
							       {"page-faults", "1:2:0"},
							       {"context-switches", "1:3:0"},
							       {"major-faults", "1:6:0"},
							       {"r4f2e", "4:4f2e:0"},
							       {"llc-LOADS", "3:2:0"}};
	for (const auto &[name, code] : known) {
		CAPTURE(name);
		CHECK(encoded(resolve(name, test.machine)) == code);
	}
	CHECK(resolve("cpu-clock", test.machine).unit == "ns");
	CHECK(resolve("cycles", test.machine).pmu == "cpu");
	CHECK(resolve("faults", test.machine).pmu == "software");
}

TEST_CASE("pmu: modifiers choose the modes that are counted")
{
	const PmuMachine test;
	const auto excluded = [&](const char *name) {
		const perf_event_attr it = resolve(name, test.machine).attributes;
		return std::string(it.exclude_user ? "u" : "") + (it.exclude_kernel ? "k" : "") +
		       (it.exclude_hv ? "h" : "");
	};
	CHECK(excluded("cycles").empty());
	CHECK(excluded("cycles:u") == "kh");
	CHECK(excluded("cycles:uk") == "h");
	CHECK(excluded("rc0:k") == "uh");
	CHECK(excluded("cpu/event=0xc0/u") == "kh");
	CHECK(excluded("cpu/event=0xc0/:k") == "uh");
	CHECK_THROWS_AS(resolve("cycles:x", test.machine), UnknownEvent);
}

TEST_CASE("pmu: terms of a PMU go into the bits that its format names")
{
	const PmuMachine test;
	CHECK(encoded(resolve("cpu/event=0xc0/", test.machine)) == "4:c0:0");
	CHECK(encoded(resolve("cpu/event=0x1c2,umask=0x3,any/", test.machine)) == "4:1002003c2:0");
	CHECK(encoded(resolve("cpu/event=1,ldlat=30/", test.machine)) == "4:1:1e");
	CHECK(encoded(resolve("cpu/config=0x412e/", test.machine)) == "4:412e:0");
	CHECK(encoded(resolve("cpu/cache-misses/", test.machine)) == "4:412e:0");
	CHECK(encoded(resolve("cpu/cache-misses,umask=0x42/", test.machine)) == "4:422e:0");
	CHECK(encoded(resolve("msr/tsc/", test.machine)) == "9:0:0");
	const Event energy = resolve("power/energy-pkg/", test.machine);
	CHECK(energy.pmu == "power");
	CHECK(energy.unit == "Joules");
	CHECK(energy.scale == 0.25);
	CHECK_THROWS_WITH(resolve("cpu/umask=0x100/", test.machine), Contains("does not fit"));
	CHECK_THROWS_WITH(resolve("cpu/event=two/", test.machine), Contains("\"two\" is not a number"));
	CHECK_THROWS_WITH(resolve("cpu/far=1/", test.machine), Contains("config9"));
	CHECK_THROWS_WITH(resolve("msr/aperf/", test.machine),
			  Contains("no term or event \"aperf\"; it has: event, tsc"));
	CHECK_THROWS_WITH(resolve("nopmu/x/", test.machine), Contains("unknown PMU \"nopmu\"") && Contains("msr"));
}

TEST_CASE("pmu: cpu is the core's PMU where that has another name")
{
	const PmuMachine test;
	std::filesystem::remove_all(test.path / "pmus/cpu");
	test.write("pmus/armv8_cortex_a72/type", "8");
	test.write("pmus/armv8_cortex_a72/format/event", "config:0-15");
	CHECK(encoded(resolve("cpu/event=0x11/", test.machine)) == "8:11:0");
	CHECK(encoded(resolve("armv8_pmuv3/event=0x11/", test.machine)) == "8:11:0");
	CHECK(resolve("armv8_cortex_a72/event=0x11/", test.machine).pmu == "cpu");
}

TEST_CASE("pmu: an unknown name is an error with the nearest known ones")
{
	const PmuMachine test;
	CHECK_THROWS_WITH(resolve("cycels", test.machine), Contains("\"cycels\"") && Contains("Did you mean cycles"));
	CHECK_THROWS_WITH(resolve("LLC-load-miss", test.machine), Contains("LLC-load-misses"));
}

TEST_CASE("pmu: why an event cannot be counted, in one clause")
{
	PmuMachine test;
	Machine &machine = test.machine;
	const auto why = [&](const char *name) { return why_not({resolve(name, machine)}, machine); };
	CHECK(why("cycles").empty());
	machine.probe = [](const auto &of) { return of.front().config == PERF_COUNT_HW_CPU_CYCLES ? 0 : ENOENT; };
	CHECK(why("ref-cycles") == "event unknown to this CPU");
	machine.probe = [](const auto &) { return EBUSY; };
	CHECK(why("cycles") == "counter taken by another user");
	machine.has_watchdog = true;
	CHECK_THAT(why("cycles"), Contains("sysctl kernel.nmi_watchdog=0"));
	machine.probe = [](const auto &) { return EACCES; };
	machine.paranoid = 3;
	CHECK(why("cycles") == "not permitted (perf_event_paranoid is 3)");
	machine.probe = [](const auto &) { return ENOENT; };
	CHECK(why("cycles") == "no PMU on this machine");
	CHECK(why("page-faults") == "event unknown to this CPU");
	test.take_pmu_away();
	CHECK(why("LLC-loads") == "no PMU in this VM");
	CHECK(why("r4f2e") == "no PMU in this VM");
	CHECK(why("cpu/event=0xc0/") == "no PMU in this VM");
	CHECK(why("cpu-clock").empty());
	machine.probe = [](const auto &of) { return of.size() > 1 ? EINVAL : 0; };
	CHECK_THAT(why_not({resolve("cycles", machine), resolve("faults", machine)}, machine),
		   Contains("at the same time"));
}

#if defined(__x86_64__)
TEST_CASE("pmu: busy() counts cycles: by the counter mask, or as they are")
{
	const PmuMachine test;
	const auto busy = [&](const char *name) {
		Event event = resolve(name, test.machine);
		make_busy(event, test.machine);
		return encoded(event);
	};
	CHECK(busy("r0148") == "4:1000148:0");
	CHECK(busy("cpu/config=0x5000148/") == "4:5000148:0");
	CHECK(busy("cache-misses") == "4:100412e:0");
	CHECK(busy("cycles") == "0:0:0");
	CHECK(busy("cpu-clock") == "1:0:0");
	CHECK(busy("msr/tsc/") == "9:0:0");
	CHECK_THROWS_WITH(busy("page-faults"), Contains("not a clock"));
	CHECK_THROWS_WITH(busy("LLC-loads"), Contains("no counter mask"));
}
#endif

} // namespace test_pmu_events
