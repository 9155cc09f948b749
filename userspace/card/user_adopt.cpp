// SPDX-License-Identifier: MIT
// The part of the user card for processes whose rings the kernel module created (user_module.h): they may have had them
// long before this recording, and declare classes without asking the recorder.
#include <algorithm>
#include <cerrno>

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user_area.h"
#include "user_processes.h"

namespace monitor::card {

void UserCard::Process::begin_here()
{
	for (Ring &ring : rings) {
		const std::uint64_t untrusted_state = __atomic_load_n(&ring.shared->state, __ATOMIC_ACQUIRE);
		const std::uint64_t position = untrusted_state & EDC_USER_POSITION;
		ring.taken = position / EDC_USER_BLOCK_WORDS;
		ring.merged = std::max<std::uint64_t>(position % EDC_USER_BLOCK_WORDS * 8, EDC_BLOCK_HEADER);
		ring.info.last_time = 0; // its open block's content is older than the recording
		ring.discarded_before = ring.info.discarded =
		    __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
		__atomic_store_n(&ring.shared->read, ring.taken, __ATOMIC_RELEASE);
	}
	shared_ring->begin_here();
	shared_discarded_before = shared_discarded = shared_ring->discarded();
	early_before = __atomic_load_n(&shared().lost_early, __ATOMIC_RELAXED);
}

// Under the lock. The drain thread calls it after reading the clock: a process that arrives later posts nothing older.
void UserCard::adopt_arrived()
{
	if (!module_)
		return;
	for (const edc_device_process &told : module_->take_arrived())
		adopt(told);
}

void UserCard::adopt(const edc_device_process &told)
{
	auto process = std::make_unique<Process>();
	process->pid = static_cast<pid_t>(told.pid);
	process->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, told.pid, 0)));
	process->ended = told.ended || (!process->pidfd && errno == ESRCH); // its events are still there
	process->merged = process->by_device = true;
	process->area = module_->map(told);
	if (!process->area.data()) {
		++counts_.refused;
		return;
	}
	process->lay_out(told.rings, told.blocks, options_.uuid, last_look_);
	if (!told.open || !started_)
		process->begin_here();
	merged_.resize(std::max<std::size_t>(merged_.size(), told.rings));
	++counts_.processes;
	++counts_.by_device;
	if (options_.name_processes && process->pidfd)
		arrived_.push_back(describe_process(process->pid));
	processes_.push_back(std::move(process));
}

// Under the lock. A class has its id as soon as it is declared, so the drain thread may meet an event of it first.
void UserCard::learn_classes()
{
	const std::size_t known_before = classes_.all().size();
	while (const auto declared = module_->next_class())
		if (!classes_.adopt(declared->id, declared->name, declared->fields))
			refuse_class(declared->id, words_of_user_class(declared->fields));
	add_words(known_before);
	if (classes_.all().size() != known_before)
		::eventfd_write(described_late_.get(), 1);
}

// Its program posts it, because the module gave it an id: it can be counted, but not recorded.
void UserCard::refuse_class(std::uint16_t id, unsigned words)
{
	if (words <= EDC_MAX_WORDS)
		device_words_[id] = static_cast<std::uint8_t>(refused_class | words);
}

} // namespace monitor::card
