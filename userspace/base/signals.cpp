// SPDX-License-Identifier: MIT
#include "signals.h"

namespace monitor {
namespace {

sigset_t blocked_at_start{}, ignored_at_start{};

bool is_ignored(int number)
{
	struct sigaction action {};
	return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

void remember_signals()
{
	::sigprocmask(SIG_SETMASK, nullptr, &blocked_at_start);
	sigemptyset(&ignored_at_start);
	for (int number = 1; number < NSIG; ++number)
		if (is_ignored(number))
			sigaddset(&ignored_at_start, number);
}

sigset_t terminating_signals(std::initializer_list<int> numbers)
{
	sigset_t set;
	sigemptyset(&set);
	for (const int number : numbers)
		if (number != SIGHUP || !sigismember(&ignored_at_start, number))
			sigaddset(&set, number);
	return set;
}

void restore_signals()
{
	for (int number = 1; number < NSIG; ++number) {
		const bool ignored = sigismember(&ignored_at_start, number) == 1;
		if (ignored != is_ignored(number))
			::signal(number, ignored ? SIG_IGN : SIG_DFL);
	}
	::sigprocmask(SIG_SETMASK, &blocked_at_start, nullptr);
}

} // namespace monitor
