// SPDX-License-Identifier: MIT
// A relaxation on a grid in strips, a thread each, with a norm by one of them after each step: the example of the
// papers on ZM4 and SPASS.
//
//   grid STEPS STRIPS FASTER_RELAX FASTER_NORM    (FASTER: times)
#include <thread>
#include <vector>

#include <pthread.h>

#include <monitor/edc.h>

#include "predict.h"

EDC_ACTIVITY(relax, "arg: u16 step");
EDC_ACTIVITY(norm, "arg: u16 step");

int main(int count, char **values)
{
	const int steps = static_cast<int>(argument(count, values, 1, 300));
	const int strips = static_cast<int>(argument(count, values, 2, 2));
	const double faster_relax = argument(count, values, 3, 1), faster_norm = argument(count, values, 4, 1);
	const Elapsed elapsed;
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(strips));
	std::vector<std::thread> running;
	for (int strip = 0; strip < strips; ++strip)
		running.emplace_back([&, strip] {
			for (int step = 0; step < steps; ++step) {
				const auto number = static_cast<std::uint16_t>(step);
				{
					const edc::scope activity{relax, number};
					work(
					    (600. + 200 * fraction(static_cast<std::uint64_t>(step * strips + strip))) /
					    strips / faster_relax);
				}
				pthread_barrier_wait(&barrier);
				if (strip == 0) {
					const edc::scope activity{norm, number};
					work(150 / faster_norm);
				}
				pthread_barrier_wait(&barrier);
			}
		});
	for (std::thread &thread : running)
		thread.join();
}
