// SPDX-License-Identifier: MIT
#include "fleet_view.h"

#include <algorithm>
#include <utility>

#include "fleet/wire/names.h"

namespace monitor::fleet_operator {

void KeptAnswers::add(Received received)
{
	if (all_.size() >= max_answers || !nonces_.contains(received.answer.nonce))
		return;
	if (std::size_t &number = kept_[received.host]; number < max_of_host) {
		++number;
		all_.push_back(std::move(received));
	}
}

FleetView::FleetView(fleet::Connection &connection) : connection_(connection)
{
	connection.subscribe("m.hello.*", [state = state_](const auto &message) { state->receive_presence(message); });
	connection.subscribe("m.answer.*", [state = state_](const auto &message) { state->receive_answer(message); });
}

void FleetView::State::receive_presence(const fleet::Connection::Message &untrusted_message)
{
	const auto subject = fleet::parse_subject(untrusted_message.subject);
	auto presence = fleet::parse_presence(untrusted_message.text());
	if (!subject || !presence)
		return;
	const std::lock_guard lock(mutex);
	if (hosts.size() >= max_hosts && !hosts.contains(subject->host))
		return;
	HostSeen &host = hosts[subject->host];
	if (host.sessions.size() < max_sessions)
		host.sessions.insert(presence->session);
	if (!presence->kept) // reported only once
		presence->kept = std::move(host.presence.kept);
	host.presence = std::move(*presence);
	arrived.notify_all();
}

void FleetView::State::receive_answer(const fleet::Connection::Message &untrusted_message)
{
	const Clock::time_point now = Clock::now();
	const auto subject = fleet::parse_subject(untrusted_message.subject);
	auto answer = fleet::parse_command_answer(untrusted_message.text());
	if (!subject || !answer)
		return;
	const std::lock_guard lock(mutex);
	answers.add({subject->host, std::move(*answer), now});
	arrived.notify_all();
}

bool FleetView::wait(std::chrono::milliseconds timeout, const std::function<bool()> &done)
{
	std::unique_lock lock(state_->mutex);
	return state_->arrived.wait_for(lock, timeout, done);
}

bool FleetView::request_presence(const std::set<std::string> &hosts, std::chrono::milliseconds timeout)
{
	connection_.publish(fleet::subject_of("ctl", "all"), "");
	return wait(timeout, [&] {
		return std::ranges::all_of(hosts, [&](const auto &host) { return state_->hosts.contains(host); });
	});
}

std::map<std::string, HostSeen> FleetView::hosts() const
{
	const std::lock_guard lock(state_->mutex);
	return state_->hosts;
}

void FleetView::expect(const std::string &nonce)
{
	const std::lock_guard lock(state_->mutex);
	state_->answers.expect(nonce);
}

std::vector<Received> FleetView::answers() const
{
	const std::lock_guard lock(state_->mutex);
	return state_->answers.all();
}

} // namespace monitor::fleet_operator
