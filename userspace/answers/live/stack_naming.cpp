// SPDX-License-Identifier: MIT
#include "stack_naming.h"

#include <exception>
#include <utility>

#include <sys/eventfd.h>

#include "refresh.h"

namespace monitor::live {
namespace {

using namespace std::chrono_literals;

constexpr auto max_lateness = 300ms;   // until a refresh is passed on without names
constexpr auto max_lookup = 1s;        // limit per window, as the next one may be ready
constexpr auto max_lookup_all = 5s;    // limit if the refresh waits for names
constexpr auto perf_map_interval = 5s; // of the followed process's perf-PID.map
constexpr std::size_t max_waiting = 16, max_waiting_refreshes = 1024;
constexpr std::size_t max_mappings = 1 << 19; // 28 MiB
constexpr std::size_t max_names = 1 << 17, max_functions = 1 << 20;
constexpr std::uint64_t kept_ns = 2'000'000'000; // mappings that ended earlier are dropped

} // namespace

StackNaming::StackNaming(Options options, PassOn pass_on)
    : options_(std::move(options)), pass_on_(std::move(pass_on)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	thread_ = std::thread([this] { run(); });
}

StackNaming::~StackNaming()
{
	{
		const std::lock_guard guard(lock_);
		is_stopping_ = true;
	}
	has_work_.notify_one();
	::eventfd_write(stop_.get(), 1);
	thread_.join();
}

// Beyond the first limit stacks stay unnamed; beyond the second the whole refresh is dropped.
void StackNaming::name(Job job)
{
	{
		const std::lock_guard guard(lock_);
		if (waiting_.size() >= max_waiting)
			job.window.reset();
		if (waiting_.size() >= max_waiting_refreshes) {
			Job &last = waiting_.back().job;
			last.mappings.insert(last.mappings.end(), job.mappings.begin(), job.mappings.end());
			last.ended.insert(last.ended.end(), job.ended.begin(), job.ended.end());
			last.end = job.end;
		} else {
			waiting_.push_back({std::move(job), Clock::now()});
		}
	}
	has_work_.notify_one();
}

void StackNaming::pass_on_late()
{
	std::vector<std::shared_ptr<Refresh>> late;
	{
		const std::lock_guard guard(lock_);
		for (Waiting &each : waiting_)
			if (each.job.refresh && Clock::now() - each.since >= max_lateness)
				late.push_back(std::exchange(each.job.refresh, nullptr));
	}
	for (std::shared_ptr<Refresh> &refresh : late)
		pass_on(refresh, nullptr);
}

void StackNaming::pass_on(std::shared_ptr<Refresh> &refresh, std::shared_ptr<NamedWindow> named)
{
	if (!named) {
		named = std::make_shared<NamedWindow>();
		named->process = refresh->followed;
		named->thread = refresh->followed_thread;
		named->is_pending = true;
	}
	refresh->stacks = std::move(named);
	pass_on_(std::exchange(refresh, nullptr));
}

// `refresh`: shared with pass_on_late().
void StackNaming::pass_on_once(std::shared_ptr<Refresh> &refresh, std::shared_ptr<NamedWindow> named)
{
	std::shared_ptr<Refresh> taken;
	{
		const std::lock_guard guard(lock_);
		taken = std::exchange(refresh, nullptr);
	}
	if (taken)
		pass_on(taken, std::move(named));
}

void StackNaming::run()
{
	for (std::unique_lock guard(lock_);;) {
		has_work_.wait(guard, [&] { return is_stopping_ || !waiting_.empty(); });
		if (is_stopping_)
			return;
		// Leaves its refresh in the queue, so that pass_on_late() finds it.
		Job job = std::move(waiting_.front().job);
		std::shared_ptr<Refresh> &refresh = waiting_.front().job.refresh = job.refresh;
		job.refresh.reset();
		guard.unlock();
		try {
			process(job, refresh);
		} catch (const std::exception &) { // such as too little memory, or too many open files
			pass_on_once(refresh, nullptr);
		}
		guard.lock();
		waiting_.pop_front();
	}
}

void StackNaming::start()
{
	symbols::SymbolOptions options;
	options.stop_fd = stop_.get();
	options.ticks_of = [this](std::uint64_t monotonic_ns) {
		return newest_->stacks.time_of(monotonic_ns, options_.clock);
	};
	symbolizer_.emplace(options_.directory, std::move(options));
	symbolizer_->code().limit(max_mappings);
}

void StackNaming::take_mappings(Job &job)
{
	for (const analyze::MappingToken &token : job.mappings) {
		symbolizer_->expect_file(token.file);
		symbolizer_->code().add(token);
	}
	symbolizer_->read_files(); // also finds users without room
	symbolizer_->code().finish();
	ended_.insert(ended_.end(), job.ended.begin(), job.ended.end());
	if (job.window)
		newest_ = std::move(job.window);
}

// From time to time, so that the followed process's perf-PID.map is read again. False: not yet.
bool StackNaming::forget_perf_map()
{
	if (Clock::now() - perf_map_read_ < perf_map_interval)
		return false;
	symbolizer_->forget_jit_functions(newest_->process);
	perf_map_read_ = Clock::now();
	return true;
}

void StackNaming::forget(std::uint64_t before)
{
	symbolizer_->code().forget_before(before);
	for (; !ended_.empty() && ended_.front().time <= before; ended_.pop_front()) {
		symbolizer_->code().ended(ended_.front().process, ended_.front().time);
		symbolizer_->forget_jit_functions(ended_.front().process);
	}
	symbolizer_->forget_above(max_names, max_functions);
}

void StackNaming::process(Job &job, std::shared_ptr<Refresh> &refresh)
{
	const bool is_named = job.window != nullptr;
	if (!symbolizer_)
		start();
	take_mappings(job);
	const auto made = [&] {
		return std::make_shared<NamedWindow>(
		    named_window(*newest_, *symbolizer_, options_.clock, options_.kinds));
	};
	if (!is_named) {
		pass_on_once(refresh, nullptr);
	} else if (options_.waits_for_names) {
		forget_perf_map();
		symbolizer_->look_up_until(Clock::now() + max_lookup_all);
		pass_on_once(refresh, made());
	} else {
		symbolizer_->look_up_until(Clock::time_point::min());
		const auto named = made();
		const bool is_all = named->unnamed == 0;
		pass_on_once(refresh, named);
		symbolizer_->look_up_until(Clock::now() + max_lookup);
		if (forget_perf_map() || !is_all)
			made(); // for the next window
	}
	const std::uint64_t kept = options_.clock.to_ticks(kept_ns);
	forget(job.end - std::min(job.end, kept));
}

} // namespace monitor::live
