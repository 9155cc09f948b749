// SPDX-License-Identifier: MIT
// A machine of a test's own for pmu::select: PMUs in a temporary directory, and a kernel that opens what the test says.
// Used by test_pmu_*.cpp.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "recording/pmu/machine.h"

namespace samples {

struct Directory {
	std::filesystem::path path;
	Directory()
	{
		std::string name = (std::filesystem::temp_directory_path() / "monitor-pmu-XXXXXX").string();
		path = ::mkdtemp(name.data());
	}
	~Directory() { std::filesystem::remove_all(path); }
	void write(const std::string &name, const std::string &text) const
	{
		std::filesystem::create_directories((path / name).parent_path());
		std::ofstream(path / name) << text << '\n';
	}
};

// With a core PMU of x86, msr and a power PMU; everything opens.
struct PmuMachine : Directory {
	monitor::pmu::Machine machine;
	PmuMachine()
	{
		write("pmus/cpu/type", "4");
		write("pmus/cpu/format/event", "config:0-7,32-35");
		write("pmus/cpu/format/umask", "config:8-15");
		write("pmus/cpu/format/ldlat", "config1:0-15");
		write("pmus/cpu/format/any", "config:21");
		write("pmus/cpu/format/far", "config9:0-3");
		write("pmus/cpu/events/cache-misses", "event=0x2e,umask=0x41");
		write("pmus/msr/type", "9");
		write("pmus/msr/format/event", "config:0-63");
		write("pmus/msr/events/tsc", "event=0x00");
		write("pmus/power/type", "11");
		write("pmus/power/format/event", "config:0-7");
		write("pmus/power/events/energy-pkg", "event=0x02");
		write("pmus/power/events/energy-pkg.unit", "Joules");
		write("pmus/power/events/energy-pkg.scale", "2.5e-1");
		machine.devices = path / "pmus";
		machine.own_groups = path / "groups";
		machine.probe = [](const auto &) { return 0; };
	}
	// As in a VM: no core PMU, and the kernel knows none of its events.
	void take_pmu_away()
	{
		std::filesystem::remove_all(path / "pmus/cpu");
		machine.is_virtual = true;
		machine.probe = [](const auto &attributes) {
			for (const perf_event_attr &one : attributes)
				if (one.type == PERF_TYPE_HARDWARE || one.type == PERF_TYPE_HW_CACHE ||
				    one.type == PERF_TYPE_RAW)
					return ENOENT;
			return 0;
		};
	}
};

} // namespace samples
