// SPDX-License-Identifier: MIT
#include "clock_exchange.h"

#include "base/clock_ns.h"
#include "base/error.h"
#include "base/this_boot.h"
#include "base/tsc.h"
#include "fleet/wire/names.h"

namespace monitor::fleet {
namespace {

// A collector relays fewer; this bounds the cost.
constexpr unsigned max_receipts = 20; // in a second

std::uint64_t ticks_of(const HostClock &clock)
{
	return clock.is_tsc ? read_tsc() : clock_ns(CLOCK_MONOTONIC);
}

struct BothClocks {
	std::uint64_t ns = 0, ticks = 0;
};

// Reads both clocks several times, and uses the narrowest read: on a busy machine this thread may be preempted in
// between.
BothClocks read_both_clocks()
{
	BothClocks best;
	std::uint64_t narrowest = ~std::uint64_t(0);
	for (int i = 0; i < 50; ++i) {
		const std::uint64_t before = read_tsc(), ns = clock_ns(CLOCK_MONOTONIC_RAW),
				    width = read_tsc() - before;
		if (width >= narrowest)
			continue;
		narrowest = width;
		best = {ns, before + width / 2};
	}
	return best;
}

// Nominal: fleet/clocks computes the actual rate from the exchanges, if it is within 0.1 % of this.
std::uint64_t measure_frequency_hz()
{
	const BothClocks first = read_both_clocks();
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	const BothClocks last = read_both_clocks();
	return static_cast<std::uint64_t>(1e9 * static_cast<double>(last.ticks - first.ticks) /
					  static_cast<double>(last.ns - first.ns));
}

HostClock clock_of_this_host(bool is_tsc)
{
	HostClock clock{is_tsc, is_tsc ? measure_frequency_hz() : 1'000'000'000, {}};
	if (!parse_uuid(this_boot(), clock.boot))
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
			      [this](const Connection::Message &message) { receive(message, ticks_of(clock_)); });
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

void ClockExchange::receive(const Connection::Message &message, std::uint64_t t4)
{
	ClockAnswer answer;
	std::string why;
	if (const auto number = decode_clock_relay(message.data)) {
		confirm(*number, t4);
		return;
	}
	if (message.no_responders || !decode_clock_answer(message.data, answer, why))
		return;
	const std::lock_guard lock(mutex_);
	if (request_.take(answer, t4))
		changed_.notify_all();
}

void ClockExchange::confirm(std::uint64_t number, std::uint64_t received)
{
	{
		const std::lock_guard lock(mutex_);
		const auto now = PendingClockRequest::Clock::now();
		if (now - second_ >= std::chrono::seconds(1)) {
			second_ = now;
			confirmed_ = 0;
		}
		if (confirmed_++ >= max_receipts)
			return;
	}
	connection_.publish(subject_, encode_clock_receipt({clock_, number, received}));
}

bool ClockExchange::wait_until_due(std::unique_lock<std::mutex> &lock)
{
	while (!stopping_ && PendingClockRequest::Clock::now() < request_.due())
		changed_.wait_until(lock, request_.due());
	return !stopping_;
}

void ClockExchange::run()
{
	for (unsigned number = 0;; ++number) {
		ClockQuestion question;
		question.clock = clock_;
		{
			std::unique_lock lock(mutex_);
			if (!wait_until_due(lock))
				break;
			question.has_last = request_.last().has_value();
			question.last = request_.last().value_or(ClockTimes{});
			question.t1 = ticks_of(clock_);
			request_.ask(question.t1, PendingClockRequest::Clock::now());
		}
		if (connection_.publish(subject_, encode_clock_question(question),
					inbox_ + '.' + std::to_string(number)))
			continue;
		const std::lock_guard lock(mutex_);
		request_.withdraw();
	}
	// Sends the times of the last exchange; no answer is needed.
	const std::lock_guard lock(mutex_);
	if (const auto &last = request_.last())
		connection_.publish(subject_, encode_clock_question({clock_, ticks_of(clock_), true, *last}));
	connection_.flush(std::chrono::milliseconds(500));
}

bool ClockExchange::wait_for_burst(std::chrono::milliseconds timeout)
{
	std::unique_lock lock(mutex_);
	return changed_.wait_for(lock, timeout, [&] { return request_.answered() >= PendingClockRequest::burst; });
}

std::uint64_t ClockExchange::exchanges() const
{
	const std::lock_guard lock(mutex_);
	return request_.answered();
}

} // namespace monitor::fleet
