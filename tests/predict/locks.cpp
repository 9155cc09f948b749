// SPDX-License-Identifier: MIT
// THREADS share ITERATIONS: work of their own, then work under one mutex.
//
//   locks ITERATIONS THREADS FASTER_LOCAL FASTER_UPDATE UNLOCKED    (FASTER: times; UNLOCKED: without the mutex)
#include <mutex>
#include <thread>
#include <vector>

#include <monitor/edc.h>

#include "predict.h"

EDC_ACTIVITY(local, "arg: u16 thread");
EDC_ACTIVITY(update, "arg: u16 thread");

int main(int count, char **values)
{
	const int iterations = static_cast<int>(argument(count, values, 1, 400));
	const int threads = static_cast<int>(argument(count, values, 2, 2));
	const double faster_local = argument(count, values, 3, 1), faster_update = argument(count, values, 4, 1);
	const bool is_unlocked = argument(count, values, 5, 0) > 0;
	const Elapsed elapsed;
	std::mutex mutex;
	std::vector<std::thread> running;
	for (int thread = 0; thread < threads; ++thread)
		running.emplace_back([&, thread] {
			const auto number = static_cast<std::uint16_t>(thread);
			for (int i = thread; i < iterations; i += threads) {
				{
					const edc::scope activity{local, number};
					work((100 + 200 * fraction(static_cast<std::uint64_t>(i))) / faster_local);
				}
				std::unique_lock lock(mutex, std::defer_lock);
				if (!is_unlocked)
					lock.lock();
				const edc::scope activity{update, number};
				work((150 + 100 * fraction(static_cast<std::uint64_t>(i) + 5000)) / faster_update);
			}
		});
	for (std::thread &thread : running)
		thread.join();
}
