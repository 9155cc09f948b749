// SPDX-License-Identifier: MIT
#include "data_path.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/sentence.h"
#include "recording/card/preflight_checks.h"

namespace monitor::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto between_spool_steps = 1s, between_problems = 10s;
constexpr auto until_the_starter_has_said_so = 3s; // that a run it started runs

} // namespace

DataPath::DataPath(const fleet::ConnectionOptions &hub, const std::string &host, const std::string &runs,
		   std::uint64_t max_bytes, std::set<std::string> running,
		   std::function<void(const std::string &)> report)
    : report_(std::move(report)), running_(std::move(running)), forwarder_(hub, host, report_),
      forwarding_(forwarder_, report_),
      spool_(
	  runs, max_bytes, forwarding_, [this](const std::string &run) { return is_running(run); }, report_),
      clock_(hub, host, card::has_invariant_tsc(), report_),
      thread_([this](const std::stop_token &stop) { step_until(stop); })
{
}

DataPath::~DataPath()
{
	thread_.request_stop();
	forwarder_.wake();
	thread_.join();
}

void DataPath::set_running(std::set<std::string> running)
{
	const std::lock_guard lock(mutex_);
	running_ = std::move(running);
}

bool DataPath::is_running(const std::string &run)
{
	const std::lock_guard lock(mutex_);
	if (running_.contains(run)) {
		first_seen_.erase(run);
		return true;
	}
	const auto [seen, is_first] = first_seen_.try_emplace(run, Clock::now());
	return Clock::now() - seen->second < until_the_starter_has_said_so;
}

void DataPath::fill(fleet::Presence &presence) const
{
	presence.session = fmt::format("{:016x}", forwarding_.session());
	presence.unsent_blocks = 0;
	for (const fleet::ForwardingAccount &account : forwarding_.accounts())
		presence.unsent_blocks += account.recorded - std::min(account.recorded, account.stored);
	const std::lock_guard lock(mutex_);
	presence.spool_bytes = account_.bytes;
	presence.lost_blocks = account_.dropped_blocks;
}

void DataPath::step_until(const std::stop_token &stop)
{
	Clock::time_point next{}, told{};
	while (!stop.stop_requested()) {
		try {
			if (Clock::now() >= next) {
				next = Clock::now() + between_spool_steps;
				spool_.step();
				const std::lock_guard lock(mutex_);
				account_ = spool_.account();
			}
			forwarding_.step(next);
		} catch (const std::exception &error) { // a full disk need not stay full
			if (Clock::now() - told > between_problems)
				report_(sentence_of(error));
			told = Clock::now();
			std::this_thread::sleep_for(100ms);
		}
	}
	try {
		forwarding_.save();
	} catch (const std::exception &error) {
		report_(sentence_of(error));
	}
}

} // namespace monitor::agent
