// SPDX-License-Identifier: MIT
#include "user_process_table.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffering/user_memory.h"
#include "user_process_info.h"

namespace monitor::card {
namespace {

using buffering::user_area_bytes;

constexpr std::size_t max_processes = 1024;            // with rings from the recorder at a time
constexpr std::size_t max_areas_of_a_process = 64;     // one for each library with its own card, and exec
constexpr std::ptrdiff_t large_areas_of_a_process = 8; // the others have the smallest rings
constexpr std::size_t max_areas_of_a_user = 128;       // for users other than root and the recording's

} // namespace

void ProcessTable::start(std::size_t max_areas)
{
	max_areas_ = max_areas;
	start_time_ = last_look_ = read_tsc();
	adopt_arrived();
	started_ = true;
}

bool ProcessTable::may_have_area(const ucred &who) const
{
	const auto count = [&](const auto &is_of) {
		return static_cast<std::size_t>(
		    std::ranges::count_if(processes_, [&](const auto &process) { return is_of(*process); }));
	};
	return processes_.size() < max_areas_ &&
	       count([&](const UserProcess &process) { return process.pid == who.pid; }) < max_areas_of_a_process &&
	       (options_.is_trusted(who.uid) ||
		count([&](const UserProcess &process) { return process.user == who.uid; }) < max_areas_of_a_user);
}

// An untrusted user gets a quarter of the memory; other users' rings shrink by no more than that. Nor do the many areas
// of one program shrink other programs' rings: libraries may have some of their own, further areas are small. So are
// those of a program that may lock its memory, of which rings take no more than half of what it has left.
std::uint64_t ProcessTable::ring_blocks_for(const UserProcess &asking, std::uint64_t wanted) const
{
	const auto areas =
	    std::ranges::count_if(processes_, [&asking](const auto &process) { return process->pid == asking.pid; });
	const std::uint64_t lockable = lockable_bytes(asking.pid) / 2 / (options_.cpus + 1);
	buffering::UserMemory memory = options_.memory;
	memory.ring_bytes = areas < large_areas_of_a_process ? std::min(memory.ring_bytes, lockable) : 0;
	std::uint64_t used = area_bytes_;
	if (!options_.is_trusted(asking.user)) {
		memory.bytes /= 4;
		used = 0;
		for (const auto &process : processes_)
			used += process->user == asking.user && !process->by_device ? process->area.size() : 0;
	}
	std::uint64_t blocks = buffering::user_ring_blocks(memory, used, options_.cpus);
	if (wanted) // the process keeps the addresses of its earlier rings
		blocks = std::has_single_bit(wanted) && used + user_area_bytes(wanted, options_.cpus) <= memory.bytes
			     ? wanted
			     : 0;
	return area_bytes_ + user_area_bytes(blocks, options_.cpus) <= options_.memory.bytes ? blocks : 0;
}

// Creates a process's memory, sealed against changes of size. The recorder locks its own open file of it: the lock
// lasts as long as the recorder, which user_search.cpp tests.
Fd ProcessTable::make_area(UserProcess &process, std::uint64_t wanted_blocks)
{
	const std::uint64_t blocks = ring_blocks_for(process, wanted_blocks);
	if (blocks == 0 || processes_.size() >= max_processes)
		return {};
	const std::uint64_t size = user_area_bytes(blocks, options_.cpus);
	Fd memory(::memfd_create("monitor-edc", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(size)) < 0 ||
	    ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return {};
	const Fd own(::open(fmt::format("/proc/self/fd/{}", memory.get()).c_str(), O_RDWR | O_CLOEXEC));
	if (!own || ::flock(own.get(), LOCK_EX | LOCK_NB) < 0)
		return {};
	void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, own.get(), 0);
	if (address == MAP_FAILED)
		return {};
	process.area = Mapping(address, size);
	process.shared().magic = EDC_USER_MAGIC;
	process.shared().counters = static_cast<std::uint32_t>(options_.counters.size());
	std::ranges::copy(options_.counters, process.shared().counter);
	std::memcpy(&process.shared().key, options_.uuid.data(), sizeof process.shared().key);
	process.lay_out(options_.cpus, blocks, options_.uuid, read_tsc());
	area_bytes_ += size;
	return memory;
}

void ProcessTable::add_losses(pid_t process, std::uint64_t untrusted_lost)
{
	const bool possible = untrusted_lost <= max_possible_discarded();
	counts_.add({process, 0, possible ? untrusted_lost : 0, possible});
}

Fd ProcessTable::give_area(const ucred &who, edc_welcome &welcome, std::uint64_t blocks, bool losses_counted)
{
	if (!may_have_area(who)) {
		refuse();
		return {};
	}
	auto process = std::make_unique<UserProcess>();
	process->pid = who.pid;
	process->user = who.uid;
	process->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0)));
	if (!process->pidfd && (errno == ESRCH || errno == EINVAL)) { // it has ended; EINVAL on older kernels
		counts_.unanswered += losses_counted ? 0 : 1;
		return {};
	}
	process->losses_counted = losses_counted;
	process->is_merged = (counts_.processes + 1) * options_.cpus > max_own_streams;
	if (!process->is_merged)
		process->card = ++cards_[who.pid];
	Fd memory = process->pidfd ? make_area(*process, blocks) : Fd();
	if (!memory) {
		refuse();
		return {};
	}
	welcome.rings = options_.cpus;
	welcome.area_bytes = process->area.size();
	welcome.blocks = static_cast<std::uint32_t>(process->blocks);
	welcome.ring_bytes = (process->blocks + 1) * EDC_BLOCK_SIZE;
	for (const auto &earlier : processes_)
		earlier->has_successor |= earlier->pid == who.pid;
	add(std::move(process));
	return memory;
}

void ProcessTable::add(std::unique_ptr<UserProcess> process)
{
	++counts_.processes;
	counts_.by_device += process->by_device ? 1 : 0;
	if (options_.name_processes && process->pidfd)
		arrived_.push_back(describe_process(process->pid));
	processes_.push_back(std::move(process));
}

void ProcessTable::begin_pass(std::uint64_t now)
{
	adopt_arrived();
	last_look_ = now;
}

void ProcessTable::adopt_arrived()
{
	if (!module_)
		return;
	for (const edc_device_process &reported : module_->take_arrived())
		adopt(reported);
}

// Adopts a process with rings from the module, perhaps older than this recording.
void ProcessTable::adopt(const edc_device_process &reported)
{
	auto process = std::make_unique<UserProcess>();
	process->pid = static_cast<pid_t>(reported.pid);
	process->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, reported.pid, 0)));
	process->ended = reported.ended || (!process->pidfd && errno == ESRCH); // its events are still there
	process->is_merged = process->by_device = true;
	process->area = module_->map(reported);
	if (!process->area.data()) {
		refuse();
		return;
	}
	process->lay_out(reported.rings, reported.blocks, options_.uuid, last_look_);
	if (!reported.open || !started_)
		process->skip_present_content();
	cpus_ = std::max<unsigned>(cpus_, reported.rings);
	add(std::move(process));
}

void ProcessTable::add_polls(std::vector<pollfd> &polls) const
{
	for (const auto &process : processes_)
		if (!process->ended)
			polls.push_back({process->pidfd.get(), POLLIN, 0});
}

void ProcessTable::note_ended(std::span<const pollfd> polls)
{
	for (const pollfd &poll : polls)
		for (const auto &process : processes_)
			if (poll.revents && process->pidfd.get() == poll.fd)
				process->ended = true;
}

void ProcessTable::remove_done()
{
	std::erase_if(processes_, [this](const auto &process) {
		if (!process->ended || !process->is_done())
			return false;
		counts_.add(process->claim(max_possible_discarded()));
		counts_.unanswered += process->is_unanswered();
		area_bytes_ -= process->by_device ? 0 : process->area.size();
		return true;
	});
}

bool ProcessTable::all_done() const
{
	return std::ranges::all_of(processes_, [](const auto &process) { return process->is_done(); });
}

void ProcessTable::notify_over() const
{
	for (const auto &process : processes_)
		if (!process->by_device)
			__atomic_store_n(&process->shared().over, 1, __ATOMIC_RELEASE);
}

UserCounts ProcessTable::counts() const
{
	UserCounts now = counts_;
	for (const auto &process : processes_) {
		now.add(process->claim(max_possible_discarded()));
		now.unanswered += process->is_unanswered();
	}
	if (module_)
		now.refused += module_->refused();
	return now;
}

} // namespace monitor::card
