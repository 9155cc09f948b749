// SPDX-License-Identifier: MIT
#include "system_clock_read.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/timex.h>

#include "base/fd.h"

namespace monitor::fleet {
namespace {

constexpr unsigned ptp_reads = 5;

std::int64_t ns_of(const ptp_clock_time &time)
{
	return static_cast<std::int64_t>(time.sec) * 1'000'000'000 + time.nsec;
}

// Only the name is known if the device is not readable, or its driver does not support it.
std::vector<SystemClock::Ptp> read_ptp()
{
	std::vector<SystemClock::Ptp> all;
	std::error_code error;
	for (std::filesystem::directory_iterator entry("/sys/class/ptp", error), end;
	     !error && entry != end && all.size() < SystemClock::max_ptp; entry.increment(error)) {
		SystemClock::Ptp ptp;
		ptp.device = entry->path().filename().string().substr(0, SystemClock::max_name);
		const std::string name = read_text(entry->path().string() + "/clock_name", SystemClock::max_name);
		ptp.name = name.substr(0, name.find('\n'));
		const Fd device(::open(("/dev/" + ptp.device).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
		ptp_sys_offset read{};
		read.n_samples = ptp_reads;
		if (device.get() >= 0 && ::ioctl(device.get(), PTP_SYS_OFFSET, &read) == 0)
			set_ptp_offset(read, ptp);
		all.push_back(std::move(ptp));
	}
	std::ranges::sort(all, {}, &SystemClock::Ptp::device);
	return all;
}

} // namespace

void set_ptp_offset(const ptp_sys_offset &read, SystemClock::Ptp &ptp)
{
	std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
	for (unsigned i = 0; i < std::min<unsigned>(read.n_samples, PTP_MAX_SAMPLES); ++i) {
		const std::int64_t before = ns_of(read.ts[2 * i]), device = ns_of(read.ts[2 * i + 1]),
				   width = ns_of(read.ts[2 * i + 2]) - before;
		if (width < 0 || width >= narrowest) // the system clock was stepped, or another pair is narrower
			continue;
		narrowest = width;
		ptp.ahead_ns = device - before - width / 2;
		ptp.within_ns = static_cast<std::uint64_t>(width);
	}
}

std::optional<SystemClock> read_system_clock()
{
	timex kernel{}; // modes 0: read only
	const int state = ::adjtimex(&kernel);
	if (state < 0)
		return {};
	SystemClock clock;
	clock.is_synchronised = state != TIME_ERROR && !(kernel.status & STA_UNSYNC);
	clock.max_error_us = static_cast<std::uint64_t>(std::max<long>(kernel.maxerror, 0));
	clock.estimated_error_us = static_cast<std::uint64_t>(std::max<long>(kernel.esterror, 0));
	clock.frequency_ppb = static_cast<std::int64_t>(kernel.freq) * 1000 / 65536; // ppm, with 16 bits of fraction
	clock.tai_s = kernel.tai;
	clock.ptp = read_ptp();
	return clock;
}

} // namespace monitor::fleet
