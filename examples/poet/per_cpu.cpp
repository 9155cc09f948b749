// SPDX-License-Identifier: MIT
// per_cpu TRACE [THREADS]: events, user-mode events and losses of every CPU; reads the streams on several threads.
// Walked through in Documentation/poet.md.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <poet/poet.hpp>
#include <vector>

namespace {

struct Statistics {
	std::uint64_t events = 0, user = 0, gaps = 0, lost = 0;

	Statistics &operator+=(const Statistics &other)
	{
		events += other.events;
		user += other.user;
		gaps += other.gaps;
		lost += other.lost;
		return *this;
	}
};

// Counts of one worker, in cache lines of their own: no other worker touches them.
struct alignas(64) Worker {
	std::map<std::optional<std::uint32_t>, Statistics> by_cpu;
};

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		std::cerr << "usage: per_cpu TRACE [THREADS]\n";
		return 2;
	}
	const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
	if (threads < 1 || threads > 1024) {
		std::cerr << "per_cpu: THREADS is from 1 to 1024\n";
		return 2;
	}
	try {
		const poet::Trace trace(argv[1]);

		std::vector<Worker> workers(static_cast<std::size_t>(threads));
		poet::visit_streams(
		    trace, {}, static_cast<unsigned>(threads),
		    [&](unsigned worker, const poet::Event &event) {
			    Statistics &mine = workers[worker].by_cpu[event.cpu()];
			    ++mine.events;
			    mine.user += event.mode() == poet::Mode::user ? 1 : 0;
		    },
		    [&](unsigned worker, const poet::Gap &gap) {
			    Statistics &mine = workers[worker].by_cpu[gap.stream->cpu];
			    ++mine.gaps;
			    mine.lost += gap.lost.value_or(0);
		    });

		std::map<std::optional<std::uint32_t>, Statistics> sum;
		for (const Worker &worker : workers)
			for (const auto &[cpu, statistics] : worker.by_cpu)
				sum[cpu] += statistics;

		for (const auto &[cpu, statistics] : sum)
			std::cout << "cpu " << (cpu ? std::to_string(*cpu) : "-") << ": " << statistics.events
				  << " events, " << statistics.user << " in user mode, " << statistics.gaps << " gaps, "
				  << statistics.lost << " lost or more\n";
	} catch (const poet::Error &error) {
		std::cerr << "per_cpu: " << error.what() << '\n';
		return 1;
	}
	return 0;
}
