// SPDX-License-Identifier: MIT
// A reader checks items, WORKERS squeeze them, a writer stores them in their order.
//
//   pipeline ITEMS WORKERS FASTER_CHECK FASTER_SQUEEZE CAPACITY UNORDERED    (FASTER: times; UNORDERED: as they come)
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <monitor/edc.h>

#include "predict.h"

EDC_ACTIVITY(check, "arg: u16 item");
EDC_ACTIVITY(squeeze, "arg: u16 item");
EDC_ACTIVITY(store, "arg: u16 item");

namespace {

class Pipeline {
public:
	Pipeline(int count, char **values)
	    : items_(static_cast<int>(argument(count, values, 1, 300))),
	      workers_(static_cast<int>(argument(count, values, 2, 2))), faster_check_(argument(count, values, 3, 1)),
	      faster_squeeze_(argument(count, values, 4, 1)),
	      capacity_(static_cast<std::size_t>(argument(count, values, 5, 4))),
	      is_unordered_(argument(count, values, 6, 0) > 0)
	{
	}

	void run()
	{
		std::vector<std::thread> threads;
		for (int i = 0; i < workers_; ++i)
			threads.emplace_back([this] { squeeze_all(); });
		threads.emplace_back([this] { store_all(); });
		threads.emplace_back([this] { check_all(); });
		for (std::thread &thread : threads)
			thread.join();
	}

private:
	void check_all()
	{
		name_thread("reader");
		for (int item = 0; item < items_; ++item) {
			{
				const edc::scope activity{check, static_cast<std::uint16_t>(item)};
				work((100 + 100 * fraction(static_cast<std::uint64_t>(item))) / faster_check_);
			}
			std::unique_lock lock(mutex_);
			room_.wait(lock, [this] { return queue_.size() < capacity_; });
			queue_.push_back(item);
			more_.notify_one();
		}
		const std::lock_guard lock(mutex_);
		is_over_ = true;
		more_.notify_all();
	}

	void squeeze_all()
	{
		name_thread("worker");
		for (;;) {
			int item = 0;
			{
				std::unique_lock lock(mutex_);
				more_.wait(lock, [this] { return is_over_ || !queue_.empty(); });
				if (queue_.empty())
					return;
				item = queue_.front();
				queue_.pop_front();
				room_.notify_one();
			}
			{
				const edc::scope activity{squeeze, static_cast<std::uint16_t>(item)};
				work((300 + 400 * fraction(static_cast<std::uint64_t>(item) + 1000)) / faster_squeeze_);
			}
			const std::lock_guard lock(mutex_);
			squeezed_.insert(item);
			ready_.notify_one();
		}
	}

	void store_all()
	{
		name_thread("writer");
		for (int i = 0; i < items_; ++i) {
			int item = i;
			{
				std::unique_lock lock(mutex_);
				if (is_unordered_) // the newest one, so that the order differs whatever the machine
						   // does
					ready_.wait(lock, [&] {
						return squeezed_.size() > 1 || (i + 1 == items_ && !squeezed_.empty());
					});
				else
					ready_.wait(lock, [&] { return squeezed_.contains(item); });
				if (is_unordered_)
					item = *squeezed_.rbegin();
				squeezed_.erase(item);
			}
			const edc::scope activity{store, static_cast<std::uint16_t>(item)};
			work(60);
		}
	}

	const int items_, workers_;
	const double faster_check_, faster_squeeze_;
	const std::size_t capacity_;
	const bool is_unordered_;
	std::mutex mutex_;
	std::condition_variable more_, room_, ready_;
	std::deque<int> queue_;
	std::set<int> squeezed_;
	bool is_over_ = false;
};

} // namespace

int main(int count, char **values)
{
	const Elapsed elapsed;
	Pipeline(count, values).run();
}
