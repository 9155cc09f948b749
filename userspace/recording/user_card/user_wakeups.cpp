// SPDX-License-Identifier: MIT
#include "user_wakeups.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/user_ring.h"

namespace monitor::card {
namespace {

futex_waitv waiter(const std::uint32_t *word, std::uint32_t value, std::uint32_t flags)
{
	return {value, reinterpret_cast<std::uintptr_t>(word), FUTEX_32 | flags, 0};
}

} // namespace

void UserWakeups::wait_for(const std::vector<std::uint32_t *> &words)
{
	woken_.store(false, std::memory_order_release);
	const std::lock_guard guard(lock_);
	words_ = words;
	interrupt_wait();
	if (!thread_.joinable() && !words.empty() && works() && !stopping_.load(std::memory_order_relaxed))
		thread_ = std::thread([this] { run(); });
}

void UserWakeups::interrupt_wait()
{
	__atomic_fetch_add(&version_, 1, __ATOMIC_SEQ_CST);
	::syscall(SYS_futex, &version_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void UserWakeups::stop()
{
	std::thread thread;
	{
		const std::lock_guard guard(lock_);
		stopping_.store(true, std::memory_order_release);
		interrupt_wait();
		thread.swap(thread_);
	}
	if (thread.joinable())
		thread.join();
}

void UserWakeups::run()
{
	std::uint32_t woken_version = 0;                // the version of which a word was set
	std::array<std::uint32_t *, max_futexes> words; // nothing here allocates: a failure could not be reported
	std::array<futex_waitv, max_futexes + 1> waiters;
	for (;;) {
		const std::uint32_t version = __atomic_load_n(&version_, __ATOMIC_SEQ_CST);
		if (stopping_.load(std::memory_order_acquire))
			return;
		std::size_t count = 0;
		if (version != woken_version) {
			const std::lock_guard guard(lock_);
			count = std::min(words_.size(), max_futexes);
			std::copy_n(words_.begin(), count, words.begin());
		}
		waiters[0] = waiter(&version_, version, FUTEX_PRIVATE_FLAG);
		for (std::size_t i = 0; i < count; ++i)
			waiters[i + 1] = waiter(words[i], EDC_BELL_QUIET, 0);
		const long which = ::syscall(SYS_futex_waitv, waiters.data(), count + 1, 0, nullptr, 0);
		if (which < 0 && errno == ENOSYS) {
			works_.store(false, std::memory_order_relaxed);
			return;
		}
		if (which == 0 || (which < 0 && errno == EINTR) ||
		    __atomic_load_n(&version_, __ATOMIC_SEQ_CST) != version)
			continue;
		woken_version = version;
		which_.store(which > 0 ? words[static_cast<std::size_t>(which) - 1] : nullptr,
			     std::memory_order_relaxed);
		woken_.store(true, std::memory_order_release);
		on_wakeup_();
	}
}

} // namespace monitor::card
