// SPDX-License-Identifier: MIT
#include "tree_progress.h"

#include <vector>

#include <time.h>

namespace monitor::record {
namespace {

// Exact for running threads, too, unlike the iterator's value. 0: the process is gone.
std::uint64_t cpu_ns_of(pid_t process)
{
	clockid_t clock;
	timespec now{};
	if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &now) != 0)
		return 0;
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// A child may have a lower number than its parent, so one pass need not find all.
std::unordered_set<std::int32_t> tree_of(const std::vector<edc_progress> &all, pid_t root)
{
	std::unordered_set<std::int32_t> tree = {root};
	for (std::size_t before = 0; before != tree.size();) {
		before = tree.size();
		for (const edc_progress &thread : all)
			if (thread.pid == thread.tgid && tree.contains(thread.ppid))
				tree.insert(thread.tgid);
	}
	return tree;
}

} // namespace

TreeProgress read_progress(const card::BpfCard &card, pid_t root, std::unordered_set<std::int32_t> &threads)
{
	TreeProgress sum;
	const std::vector<edc_progress> all = card.list_progress();
	const std::unordered_set<std::int32_t> tree = tree_of(all, root);
	for (const edc_progress &thread : all) {
		if (!tree.contains(thread.tgid))
			continue;
		sum.is_known = true;
		threads.insert(thread.pid);
		sum.cpu_ns += thread.children_ns;
		for (std::size_t i = 0; i < sum.count.size(); ++i)
			sum.count[i] += thread.count[i] + thread.ended[i];
	}
	for (const std::int32_t process : tree)
		sum.cpu_ns += cpu_ns_of(process);
	return sum;
}

} // namespace monitor::record
