// SPDX-License-Identifier: MIT
#include "coordinated_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "answers/report/table.h"
#include "base/escape.h"
#include "fleet/wire/names.h"

namespace monitor::fleet_operator {
namespace {

double ns_between(Clock::time_point from, Clock::time_point to)
{
	return std::chrono::duration<double, std::nano>(to - from).count();
}

std::int64_t ns_difference(std::uint64_t from, std::uint64_t to)
{
	return static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
}

// The number of hosts that should follow another host's trigger.
std::size_t followers(const std::set<std::string> &hosts, const std::string &of)
{
	return hosts.size() - hosts.count(of);
}

nlohmann::ordered_json host_report_json(const std::string &host, const CoordinatedSnapshot::HostReport &host_report)
{
	return {{"host", host},
		{"snapshot", fleet::snapshot_name(host_report.news.number)},
		{"time", host_report.news.time},
		{"realtime_ns", host_report.news.realtime_ns},
		{"frozen_time", host_report.news.frozen_time},
		{"frozen_ns", host_report.news.frozen_ns}};
}

} // namespace

std::optional<FreezeTime> freeze_time(const CoordinatedSnapshot &snapshot)
{
	if (!snapshot.fired || snapshot.froze.empty())
		return {};
	FreezeTime time;
	for (const auto &[host, host_report] : snapshot.froze) {
		const double by_arrival_ns = ns_between(snapshot.fired->arrived, host_report.arrived);
		const std::int64_t by_clocks_ns =
		    ns_difference(snapshot.fired->news.realtime_ns, host_report.news.frozen_ns);
		const bool is_first = time.last_host.empty();
		if (is_first || by_arrival_ns > time.by_arrival_ns) {
			time.last_host = host;
			time.by_arrival_ns = by_arrival_ns;
		}
		time.by_clocks_ns = is_first ? by_clocks_ns : std::max(time.by_clocks_ns, by_clocks_ns);
	}
	return time;
}

void KeptCoordinatedSnapshots::add(const std::string &host, bool has_fired, fleet::SnapshotNews news,
				   Clock::time_point arrived)
{
	if (has_fired != news.cause_host.empty() || news.cause_host == host)
		return;
	const auto key = has_fired ? std::pair(host, news.number) : std::pair(news.cause_host, news.cause_number);
	if (reports_ >= max_reports || settled_.contains(key) ||
	    (!waiting_.contains(key) && waiting_.size() + settled_.size() >= max_snapshots))
		return;
	const auto [entry, is_new] = waiting_.try_emplace(key);
	CoordinatedSnapshot &snapshot = entry->second;
	if (is_new) {
		snapshot.host = key.first;
		snapshot.number = key.second;
		snapshot.first_arrival = arrived;
	}
	++reports_;
	if (!has_fired)
		snapshot.froze.try_emplace(host, CoordinatedSnapshot::HostReport{std::move(news), arrived});
	else if (!snapshot.fired)
		snapshot.fired = CoordinatedSnapshot::HostReport{std::move(news), arrived};
}

std::vector<CoordinatedSnapshot> KeptCoordinatedSnapshots::take_settled(const std::set<std::string> &hosts,
									Clock::time_point before)
{
	std::vector<CoordinatedSnapshot> settled;
	for (auto each = waiting_.begin(); each != waiting_.end();) {
		const CoordinatedSnapshot &snapshot = each->second;
		const bool is_whole = snapshot.fired && snapshot.froze.size() >= followers(hosts, snapshot.host);
		if (!is_whole && snapshot.first_arrival >= before) {
			++each;
			continue;
		}
		settled_.insert(each->first);
		settled.push_back(std::move(each->second));
		each = waiting_.erase(each);
	}
	std::ranges::sort(settled, {}, &CoordinatedSnapshot::first_arrival);
	return settled;
}

CoordinatedView::CoordinatedView(fleet::Connection &connection, const std::string &run)
{
	state_->run = run;
	const auto listen = [&](const char *kind, bool has_fired) {
		connection.subscribe(fmt::format("m.{}.*", kind), [state = state_, has_fired](const auto &message) {
			const Clock::time_point now = Clock::now();
			const auto subject = fleet::parse_subject(message.subject);
			auto news = fleet::parse_snapshot_news(message.text());
			if (!subject || !news || news->run != state->run)
				return;
			const std::lock_guard lock(state->mutex);
			state->snapshots.add(subject->host, has_fired, std::move(*news), now);
		});
	};
	listen("fired", true);
	listen("froze", false);
}

std::vector<CoordinatedSnapshot> CoordinatedView::take_settled(const std::set<std::string> &hosts,
							       Clock::time_point before)
{
	const std::lock_guard lock(state_->mutex);
	return state_->snapshots.take_settled(hosts, before);
}

std::string coordinated_text(const CoordinatedSnapshot &snapshot, const std::set<std::string> &hosts)
{
	const std::string trigger = snapshot.fired           ? snapshot.fired->news.trigger
				    : snapshot.froze.empty() ? ""
							     : snapshot.froze.begin()->second.news.trigger;
	std::string text = fmt::format("{} of {} fired (snapshot {}): {} of {} other hosts froze",
				       trigger.empty() ? "a trigger" : "the trigger " + printable(trigger),
				       snapshot.host, fleet::snapshot_name(snapshot.number), snapshot.froze.size(),
				       std::max(followers(hosts, snapshot.host), snapshot.froze.size()));
	if (const auto time = freeze_time(snapshot))
		text += fmt::format(", the last, {}, {} after it as heard here; {} at most by the hosts' own clocks",
				    time->last_host, report::duration_text(time->by_arrival_ns),
				    report::duration_text(static_cast<double>(time->by_clocks_ns)));
	return text;
}

nlohmann::ordered_json coordinated_json(const CoordinatedSnapshot &snapshot)
{
	nlohmann::ordered_json json = {{"host", snapshot.host},
				       {"snapshot", fleet::snapshot_name(snapshot.number)},
				       {"trigger", nullptr},
				       {"fired", nullptr},
				       {"froze", nlohmann::ordered_json::array()},
				       {"last_frozen_heard_ns", nullptr},
				       {"last_frozen_by_clocks_ns", nullptr}};
	if (snapshot.fired) {
		json["trigger"] = snapshot.fired->news.trigger;
		json["fired"] = host_report_json(snapshot.host, *snapshot.fired);
	}
	for (const auto &[host, host_report] : snapshot.froze)
		json["froze"].push_back(host_report_json(host, host_report));
	if (const auto time = freeze_time(snapshot)) {
		json["last_frozen_heard_ns"] = time->by_arrival_ns;
		json["last_frozen_by_clocks_ns"] = time->by_clocks_ns;
	}
	return json;
}

} // namespace monitor::fleet_operator
