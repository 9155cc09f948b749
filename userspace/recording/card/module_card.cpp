// SPDX-License-Identifier: MIT
#include "module_card.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "classes.h"
#include "kernel_features.h"

namespace monitor::card {
namespace {

edc_device_info info_of(int device)
{
	edc_device_info info{};
	if (::ioctl(device, EDC_DEVICE_INFO, &info) < 0)
		info.version = 0;
	return info;
}

} // namespace

std::string why_no_module()
{
	const Fd device(::open(EDC_DEVICE, O_RDWR | O_CLOEXEC));
	if (!device && errno == ENOENT)
		return "the module monitor_edc is not loaded: build it from kmod/ and load it with `modprobe "
		       "monitor_edc`";
	if (!device)
		return fmt::format("{} cannot be opened: {}", EDC_DEVICE, std::strerror(errno));
	const edc_device_info info = info_of(device.get());
	if (info.version != EDC_DEVICE_VERSION)
		return fmt::format("the loaded module monitor_edc has another version ({}, not {}): rebuild it",
				   info.version, EDC_DEVICE_VERSION);
	if (info.in_use)
		return fmt::format("another recording uses the module's card: process {}", info.in_use);
	return "";
}

pid_t holder_of_module()
{
	const Fd device(::open(EDC_DEVICE, O_RDWR | O_CLOEXEC));
	const edc_device_info info = device ? info_of(device.get()) : edc_device_info{};
	return info.version == EDC_DEVICE_VERSION ? static_cast<pid_t>(info.in_use) : 0;
}

ModuleCard::ModuleCard(const std::array<std::uint8_t, 16> &uuid, unsigned cpus,
		       const std::array<std::uint64_t, EDC_CARD_RINGS> &blocks, bool filtering, bool overwriting,
		       const std::vector<unsigned> &counters_in_set)
{
	if (const std::string why = why_no_module(); !why.empty())
		throw Error("--card module: " + why);
	device_ = Fd(::open(EDC_DEVICE, O_RDWR | O_CLOEXEC));
	classes_ = info_of(device_.get()).classes;
	edc_device_create wanted{};
	std::memcpy(wanted.uuid, uuid.data(), uuid.size());
	wanted.filtering = filtering;
	wanted.overwriting = overwriting;
	std::ranges::copy(counters_in_set, wanted.counters);
	wanted.throttle_count = kernel_switch_flags().throttle_count;
	for (unsigned level = 0; level < EDC_CARD_LEVELS; ++level)
		wanted.blocks[level] = static_cast<__u32>(blocks[level]);
	area_bytes_ = wanted.area_bytes =
	    EDC_CPU_HEADER + std::accumulate(blocks.begin(), blocks.end(), std::uint64_t(0)) * EDC_BLOCK_SIZE;
	if (::ioctl(device_.get(), EDC_DEVICE_CREATE, &wanted) < 0)
		throw Error(errno, errno == EBUSY
				       ? "--card module: another recording uses the card; wait until it ends, "
					 "or use --card bpf"
				       : "--card module: the module refused to create the rings");
	map(cpus);
}

// Reserves address space for all areas, then maps each CPU's two parts into it.
void ModuleCard::map(unsigned cpus)
{
	const std::size_t size = area_bytes_ * cpus;
	void *place = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (place == MAP_FAILED)
		throw Error(errno, "cannot reserve address space for the rings");
	areas_ = Mapping(place, size);
	const auto part = [&](std::uint64_t at, std::uint64_t bytes, int access) {
		if (::mmap(areas_.data() + at, bytes, access, MAP_SHARED | MAP_FIXED, device_.get(),
			   static_cast<off_t>(at)) == MAP_FAILED)
			throw Error(errno, "cannot map the rings of the module");
	};
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		part(cpu * area_bytes_, sizeof(edc_reader), PROT_READ | PROT_WRITE);
		part(cpu * area_bytes_ + sizeof(edc_reader), area_bytes_ - sizeof(edc_reader), PROT_READ);
	}
}

bool ModuleCard::has(std::string_view name) const
{
	return std::ranges::any_of(kernel_classes(), [&](const ClassRow &row) {
		return name == row.name && edc_device_classes_has(&classes_, row.id);
	});
}

void ModuleCard::attach(const std::vector<std::string> &names)
{
	edc_device_classes chosen{};
	for (const std::string &name : names)
		for (const ClassRow &row : kernel_classes())
			if (name == row.name && edc_device_classes_has(&classes_, row.id))
				edc_device_classes_add(&chosen, row.id);
	if (::ioctl(device_.get(), EDC_DEVICE_ATTACH, &chosen) < 0)
		throw Error(errno, "the module cannot attach its probes");
}

void ModuleCard::detach()
{
	::ioctl(device_.get(), EDC_DEVICE_DETACH);
}

void ModuleCard::trace(int process, bool is_traced)
{
	__s32 number = is_traced ? process : -process;
	if (::ioctl(device_.get(), EDC_DEVICE_TRACE, &number) < 0)
		throw Error(errno, "the module cannot select a process");
}

void ModuleCard::stop(unsigned cpu, bool stopped) const
{
	const edc_device_stop wanted{cpu, stopped};
	while (::ioctl(device_.get(), EDC_DEVICE_STOP, &wanted) < 0 && errno == EINTR)
		;
}

void ModuleCard::match(const edc_matcher *tables, unsigned times, unsigned triggers)
{
	const edc_device_matcher wanted{reinterpret_cast<std::uintptr_t>(tables), tables ? sizeof *tables : 0, times,
					triggers};
	if (::ioctl(device_.get(), EDC_DEVICE_MATCH, &wanted) < 0)
		throw Error(errno, "the module cannot filter events");
}

std::vector<edc_pending_start> ModuleCard::take_overdue(unsigned trigger, std::uint64_t before) const
{
	std::vector<edc_pending_start> all;
	edc_device_overdue overdue{};
	do {
		overdue.trigger = trigger;
		overdue.before = before;
		overdue.found = 0;
		if (::ioctl(device_.get(), EDC_DEVICE_OVERDUE, &overdue) < 0)
			break;
		all.insert(all.end(), overdue.entry,
			   overdue.entry + std::min<__u32>(overdue.found, EDC_DEVICE_OVERDUE_MAX));
	} while (overdue.found >= EDC_DEVICE_OVERDUE_MAX && all.size() < EDC_PENDING_STARTS);
	return all;
}

void ModuleCard::ack() const
{
	std::uint64_t times;
	while (::read(device_.get(), &times, sizeof times) < 0 && errno == EINTR)
		;
}

void ModuleCard::reset()
{
	if (::ioctl(device_.get(), EDC_DEVICE_RESET) < 0)
		throw Error(errno, "the module cannot empty its rings");
}

void ModuleCard::sample_every(std::uint64_t ns)
{
	__u64 every = ns;
	if (::ioctl(device_.get(), EDC_DEVICE_SAMPLE, &every) < 0)
		throw Error(errno, "the module cannot sample at this period");
}

bool ModuleCard::sample_once() const
{
	__u64 once = 0;
	return ::ioctl(device_.get(), EDC_DEVICE_SAMPLE, &once) == 0;
}

edc_device_faults ModuleCard::faults() const
{
	edc_device_faults counts{};
	::ioctl(device_.get(), EDC_DEVICE_FAULTS, &counts);
	return counts;
}

} // namespace monitor::card
