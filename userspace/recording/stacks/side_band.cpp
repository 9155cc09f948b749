// SPDX-License-Identifier: MIT
#include "side_band.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/ranges.h"

namespace monitor::stacks {
namespace {

constexpr std::size_t data_pages = 32; // of each CPU

struct Mmap2 {
	std::uint32_t process, thread;
	std::uint64_t address, length, offset;
	std::uint32_t major, minor;
	std::uint64_t inode, generation;
	std::uint32_t protection, flags; // the name follows
};
static_assert(sizeof(Mmap2) == 64);

struct Task {
	std::uint32_t process, parent, thread, parent_thread;
	std::uint64_t time;
};

template <class T> bool read_body(const std::vector<std::byte> &record, T &value)
{
	if (record.size() < sizeof(perf_event_header) + sizeof value)
		return false;
	std::memcpy(&value, record.data() + sizeof(perf_event_header), sizeof value);
	return true;
}

// The last word of every record (sample_id_all).
std::uint64_t time_of(const std::vector<std::byte> &record)
{
	std::uint64_t time = 0;
	if (record.size() >= sizeof(perf_event_header) + sizeof time)
		std::memcpy(&time, record.data() + record.size() - sizeof time, sizeof time);
	return time;
}

} // namespace

perf_event_attr SideBand::attributes(unsigned wakeup_bytes)
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_DUMMY;
	attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attributes.sample_id_all = 1;
	attributes.mmap = attributes.mmap2 = attributes.comm = attributes.comm_exec = attributes.task = 1;
	// No build ids: once any event asks for them, the kernel (6.18) marks the records of those that did not, too,
	// and perf takes an inode for a build id and aborts.
	attributes.use_clockid = 1;
	attributes.clockid = CLOCK_MONOTONIC;
	attributes.watermark = 1; // in bytes, because a dummy event has no samples
	attributes.wakeup_watermark = wakeup_bytes;
	return attributes;
}

SideBand::SideBand(unsigned cpus, unsigned wakeup_bytes)
{
	const perf_event_attr attributes = SideBand::attributes(wakeup_bytes);
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		Fd fd(static_cast<int>(
		    ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
		if (!fd && errno == ENODEV)
			continue; // a possible CPU that is offline
		if (!fd)
			throw Error(errno, "cannot learn of the mappings of processes (perf_event_open)");
		add(cpu, std::move(fd));
	}
}

// Keeps the ring of an earlier online period of the CPU until it was read.
void SideBand::add(unsigned cpu, Fd event)
{
	const std::size_t bytes = (1 + data_pages) * static_cast<std::size_t>(::getpagesize());
	void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
	if (memory == MAP_FAILED)
		throw Error(errno, "cannot learn of the mappings of processes (mmap)");
	const std::lock_guard hold(lock_);
	rings_.push_back({cpu, std::move(event), Mapping(memory, bytes)});
}

std::vector<int> SideBand::fds() const
{
	const std::lock_guard hold(lock_);
	return list_of<int>(rings_, [](const Ring &ring) { return ring.fd.get(); });
}

std::vector<Change> SideBand::take()
{
	const std::lock_guard hold(lock_);
	std::vector<Change> changes;
	for (Ring &ring : rings_)
		take(ring, changes);
	std::set<unsigned> later;
	for (std::size_t i = rings_.size(); i-- > 0;)
		if (!later.insert(rings_[i].cpu).second)
			rings_.erase(rings_.begin() + static_cast<std::ptrdiff_t>(i));
	std::ranges::stable_sort(changes, {}, &Change::monotonic_ns);
	return changes;
}

void SideBand::take(Ring &ring, std::vector<Change> &changes)
{
	auto *page = reinterpret_cast<perf_event_mmap_page *>(ring.memory.data());
	const std::byte *data = ring.memory.data() + page->data_offset;
	const std::uint64_t size = page->data_size, head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	std::uint64_t tail = page->data_tail;
	std::vector<std::byte> record;
	const auto copy = [&](std::uint64_t from, std::size_t bytes) {
		record.resize(bytes);
		const std::size_t first = std::min<std::size_t>(bytes, size - from % size);
		std::memcpy(record.data(), data + from % size, first);
		std::memcpy(record.data() + first, data, bytes - first);
	};
	while (head - tail >= sizeof(perf_event_header)) {
		perf_event_header header;
		copy(tail, sizeof header);
		std::memcpy(&header, record.data(), sizeof header);
		if (header.size < sizeof header || header.size > head - tail)
			break;
		copy(tail, header.size);
		take_record(record, changes);
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void SideBand::take_record(const std::vector<std::byte> &record, std::vector<Change> &changes)
{
	perf_event_header header;
	std::memcpy(&header, record.data(), sizeof header);
	Change change;
	change.monotonic_ns = time_of(record);
	Mmap2 mapped;
	Task task;
	std::uint32_t process;
	std::uint64_t lost[2];
	if (header.type == PERF_RECORD_MMAP2 && read_body(record, mapped)) {
		change.process = static_cast<std::int32_t>(mapped.process);
		change.start = mapped.address;
		change.end = mapped.address + mapped.length;
		change.offset = mapped.offset;
		const auto *name = reinterpret_cast<const char *>(record.data()) + sizeof header + sizeof mapped;
		change.path.assign(name, ::strnlen(name, record.size() - sizeof header - sizeof mapped));
		change.device = std::uint64_t{mapped.major} << 32 | mapped.minor;
		change.inode = mapped.inode;
		change.generation = mapped.generation;
	} else if (header.type == PERF_RECORD_COMM && header.misc & PERF_RECORD_MISC_COMM_EXEC &&
		   read_body(record, process)) {
		change.kind = Change::Kind::executed;
		change.process = static_cast<std::int32_t>(process);
	} else if ((header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) && read_body(record, task)) {
		const bool is_fork = header.type == PERF_RECORD_FORK;
		if (is_fork ? task.process == task.parent : task.process != task.thread)
			return; // a thread, not a process
		change.kind = is_fork ? Change::Kind::created : Change::Kind::ended;
		change.process = static_cast<std::int32_t>(task.process);
		change.parent = static_cast<std::int32_t>(task.parent);
	} else {
		if (header.type == PERF_RECORD_LOST && read_body(record, lost))
			lost_ += lost[1];
		return;
	}
	changes.push_back(std::move(change));
}

} // namespace monitor::stacks
