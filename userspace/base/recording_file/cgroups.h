// SPDX-License-Identifier: MIT
// The kernel's figures of cgroups at one moment (`cgroups`): of those with a CPU quota, and of the recorded command's,
// which comes first. For comparison with the throttled time of threads.
#pragma once

#include "fields.h"

namespace monitor::recording_file {

// Time in which some or all of its threads waited (PSI), in us.
struct Pressure {
	std::optional<std::uint64_t> some_us, full_us;

	void fields(auto &v) { v("some_us", some_us, "full_us", full_us); }
};

struct DeviceIo {
	std::string device; // MAJOR:MINOR
	std::uint64_t read_bytes = 0, written_bytes = 0, reads = 0, writes = 0;

	void fields(auto &v)
	{
		v("device", device, "read_bytes", read_bytes, "written_bytes", written_bytes, "reads", reads, "writes",
		  writes);
	}
};

struct CgroupFigures {
	std::string path;                                 // within the mount
	std::optional<std::uint64_t> quota_us, period_us; // none: it has no quota
	std::optional<std::uint64_t> usage_us, periods, throttled_periods, throttled_us;
	std::vector<DeviceIo> io;
	Pressure cpu, disk, memory;

	void fields(auto &v)
	{
		v("path", path, "quota_us", quota_us, "period_us", period_us, "usage_us", usage_us, "periods", periods,
		  "throttled_periods", throttled_periods, "throttled_us", throttled_us);
		v.if_set("io", io, "cpu_pressure", cpu, "io_pressure", disk, "memory_pressure", memory);
	}
};

struct Cgroups {
	std::uint64_t hierarchy = 0; // 1 or 2: the version of the one that has quotas; 0: there is none
	bool has_all = false;        // all groups with a quota are listed
	std::vector<CgroupFigures> groups;

	void fields(auto &v) { v("hierarchy", hierarchy, "has_all", has_all, "groups", groups); }
};

} // namespace monitor::recording_file
