// SPDX-License-Identifier: MIT
#include "command.h"

#include <algorithm>

#include "base/clock_ns.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/scanner.h"
#include "fleet/wire/names.h"

namespace monitor::fleet_operator {
namespace {

constexpr std::size_t few_hosts = 16;

void publish_command(fleet::Connection &connection, const std::string &subject, const std::string &envelope)
{
	if (connection.publish(subject, envelope))
		return;
	const std::string problem = connection.problem();
	throw Error(problem.empty() ? "the hub did not take the command: try again" : problem);
}

// Sends one message to these hosts.
void send_to(fleet::Connection &connection, const fleet::ControlMessage &message, const fleet::SigningKey &key)
{
	const std::string envelope = fleet::signed_control(message, key);
	if (message.hosts.size() > few_hosts)
		return publish_command(connection, fleet::subject_of("ctl", "all"), envelope);
	for (const std::string &host : message.hosts)
		publish_command(connection, fleet::subject_of("ctl", host), envelope);
}

} // namespace

bool is_match(std::string_view pattern, std::string_view host)
{
	std::size_t p = 0, h = 0, star = std::string_view::npos, from = 0; // the last star, and where its match ends
	while (h < host.size()) {
		if (p < pattern.size() && pattern[p] == '*') {
			star = p++;
			from = h;
		} else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == host[h])) {
			++p;
			++h;
		} else if (star != std::string_view::npos) {
			p = star + 1;
			h = ++from;
		} else {
			return false;
		}
	}
	return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> chosen_hosts(const std::string &patterns, const std::set<std::string> &hosts)
{
	std::set<std::string> chosen;
	for (const std::string &pattern : split(patterns)) {
		bool is_used = false;
		for (const std::string &host : hosts)
			if (is_match(pattern, host)) {
				is_used = true;
				chosen.insert(host);
			}
		if (!is_used)
			throw Error("--hosts: no host matches '{}'; `monitor fleet status` lists them",
				    printable(pattern));
	}
	return {chosen.begin(), chosen.end()};
}

void send_command(fleet::Connection &connection, fleet::ControlMessage message, const std::vector<std::string> &hosts,
		  const fleet::SigningKey &key, std::chrono::nanoseconds validity, std::chrono::nanoseconds lead,
		  const std::function<void(const std::string &nonce)> &expect)
{
	message.issued_ns = clock_ns(CLOCK_REALTIME);
	message.expires_ns = message.issued_ns + static_cast<std::uint64_t>(validity.count());
	message.start_ns = lead.count() ? message.issued_ns + static_cast<std::uint64_t>(lead.count()) : 0;
	for (std::size_t at = 0; at < hosts.size(); at += fleet::max_addressed_hosts) {
		const std::size_t end = std::min(at + fleet::max_addressed_hosts, hosts.size());
		message.hosts.assign(hosts.begin() + static_cast<std::ptrdiff_t>(at),
				     hosts.begin() + static_cast<std::ptrdiff_t>(end));
		message.nonce = random_hex(4 * fleet::nonce_digits);
		if (expect)
			expect(message.nonce);
		send_to(connection, message, key);
	}
}

Outcomes outcomes(const std::vector<std::string> &hosts, const std::vector<Received> &answers)
{
	Outcomes found;
	for (const std::string &host : hosts)
		found[host];
	for (const Received &each : answers) {
		const auto entry = found.find(each.host);
		if (entry == found.end()) // of a host that was not addressed
			continue;
		Outcome &outcome = entry->second;
		if (each.answer.kind == fleet::CommandAnswer::Kind::started && !outcome.started)
			outcome.started_arrived = each.arrived;
		std::optional<fleet::CommandAnswer> *const of_kind[] = {&outcome.refused, &outcome.accepted,
									&outcome.started, &outcome.ended};
		*of_kind[static_cast<std::size_t>(each.answer.kind)] = each.answer;
	}
	return found;
}

StartSpread start_spread(const Outcomes &outcomes)
{
	StartSpread spread;
	Clock::time_point first = Clock::time_point::max(), last = Clock::time_point::min();
	for (const auto &[host, outcome] : outcomes) {
		if (!outcome.started)
			continue;
		++spread.hosts;
		first = std::min(first, outcome.started_arrived);
		last = std::max(last, outcome.started_arrived);
		if (const auto late = outcome.started->late_ns) {
			spread.earliest_ns = std::min(spread.earliest_ns.value_or(*late), *late);
			spread.latest_ns = std::max(spread.latest_ns.value_or(*late), *late);
		}
	}
	if (spread.hosts > 0)
		spread.arrived_ns = std::chrono::duration<double, std::nano>(last - first).count();
	return spread;
}

} // namespace monitor::fleet_operator
