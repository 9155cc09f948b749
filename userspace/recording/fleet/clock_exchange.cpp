// SPDX-License-Identifier: MIT
#include "clock_exchange.h"

#include <chrono>

#include "base/clock_ns.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/fleet/names.h"
#include "base/tsc.h"

namespace monitor::fleet {
namespace {

constexpr unsigned burst = 10;
constexpr auto between_in_burst = std::chrono::milliseconds(50), between = std::chrono::milliseconds(1000);

std::uint64_t ticks_of(const HostClock &clock)
{
	return clock.is_tsc ? read_tsc() : clock_ns(CLOCK_MONOTONIC);
}

// Nominal: the lines that answers/collection makes of the exchanges say the rate.
std::uint64_t measure_frequency_hz()
{
	const std::uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW), ticks = read_tsc();
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	const std::uint64_t ns_later = clock_ns(CLOCK_MONOTONIC_RAW), ticks_later = read_tsc();
	return static_cast<std::uint64_t>(1e9 * static_cast<double>(ticks_later - ticks) /
					  static_cast<double>(ns_later - ns));
}

HostClock clock_of_this_host(bool is_tsc)
{
	HostClock clock{is_tsc, is_tsc ? measure_frequency_hz() : 1'000'000'000, {}};
	const std::string boot = read_text("/proc/sys/kernel/random/boot_id");
	if (!parse_uuid(boot.substr(0, boot.find('\n')), clock.boot))
		throw Error("/proc/sys/kernel/random/boot_id cannot be read: mount /proc");
	return clock;
}

} // namespace

ClockExchange::ClockExchange(const ConnectionOptions &hub, const std::string &host, bool is_tsc,
			     std::function<void(const std::string &)> report)
    : subject_(subject_of("clock", host)), inbox_(make_inbox(host)), clock_(clock_of_this_host(is_tsc)),
      connection_(hub, {{}, {}, std::move(report)})
{
	connection_.subscribe(inbox_ + ".*",
			      [this](const Connection::Message &message) { take(message, ticks_of(clock_)); });
	thread_ = std::thread([this] { run(); });
}

ClockExchange::~ClockExchange()
{
	{
		const std::lock_guard lock(mutex_);
		stopping_ = true;
		changed_.notify_all();
	}
	thread_.join();
	connection_.stop_receiving();
}

void ClockExchange::take(const Connection::Message &message, std::uint64_t t4)
{
	ClockAnswer answer;
	std::string why;
	if (message.no_responders || !decode_clock_answer(message.data, answer, why))
		return;
	const std::lock_guard lock(mutex_);
	if (answer.t1 != asked_t1_ || asked_t1_ == 0)
		return; // late
	last_ = {answer.t1, answer.t2, answer.t3, t4};
	asked_t1_ = 0;
	++answered_;
	changed_.notify_all();
}

void ClockExchange::run()
{
	for (unsigned asked = 0;; ++asked) {
		ClockQuestion question;
		question.clock = clock_;
		{
			std::unique_lock lock(mutex_);
			if (changed_.wait_for(lock, answered_ < burst ? between_in_burst : between,
					      [&] { return stopping_; }))
				break;
			question.has_last = last_.has_value();
			question.last = last_.value_or(ClockTimes{});
			asked_t1_ = question.t1 = ticks_of(clock_);
		}
		connection_.publish(subject_, encode_clock_question(question), inbox_ + '.' + std::to_string(asked));
	}
	// the last exchange goes without an answer
	const std::lock_guard lock(mutex_);
	if (last_)
		connection_.publish(subject_, encode_clock_question({clock_, ticks_of(clock_), true, *last_}));
	connection_.flush(std::chrono::milliseconds(500));
}

bool ClockExchange::wait_for_first(std::chrono::milliseconds patience)
{
	std::unique_lock lock(mutex_);
	return changed_.wait_for(lock, patience, [&] { return answered_ >= burst; });
}

std::uint64_t ClockExchange::exchanges() const
{
	const std::lock_guard lock(mutex_);
	return answered_;
}

} // namespace monitor::fleet
