// SPDX-License-Identifier: MIT
#include "cost_account.h"

#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json_fields.h"
#include "base/own_cpu_time.h"

namespace monitor::fleet {
namespace {

using Json = nlohmann::ordered_json;

// Saturates, as the numbers are untrusted.
void add(std::uint64_t &sum, std::uint64_t more)
{
	if (__builtin_add_overflow(sum, more, &sum))
		sum = std::numeric_limits<std::uint64_t>::max();
}

void add(CostSums &sum, const CostSums &more)
{
	add(sum.cpu_ns, more.cpu_ns);
	add(sum.bytes, more.bytes);
	add(sum.messages, more.messages);
}

bool is_later(const CostSums &now, const CostSums &before)
{
	return now.cpu_ns >= before.cpu_ns && now.bytes >= before.bytes && now.messages >= before.messages;
}

void add(std::optional<std::uint64_t> &elapsed_ns, CostAccount::Clock::duration more)
{
	if (elapsed_ns && more.count() > 0)
		add(*elapsed_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(more).count()));
}

std::optional<TimedCost> sums_in(const nlohmann::json &json)
{
	const auto cpu = number_field(json, "cpu_ns"), bytes = number_field(json, "bytes"),
		   messages = number_field(json, "messages");
	if (!cpu || !bytes || !messages)
		return {};
	return TimedCost{{*cpu, *bytes, *messages}, number_field(json, "elapsed_ns")};
}

void put_elapsed(Json &json, const TimedCost &cost)
{
	if (cost.elapsed_ns)
		json["elapsed_ns"] = *cost.elapsed_ns;
}

Json json_of(const TimedCost &cost)
{
	Json json = {{"cpu_ns", cost.cpu_ns}, {"bytes", cost.bytes}, {"messages", cost.messages}};
	put_elapsed(json, cost);
	return json;
}

} // namespace

std::optional<std::uint64_t> process_cpu_ns(int pid)
{
	std::uint64_t sum = 0;
	bool is_known = false;
	std::error_code error;
	const std::string tasks = fmt::format("/proc/{}/task", pid);
	for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
	     task.increment(error)) {
		const std::string text = read_text(task->path().string() + "/schedstat", 256);
		is_known = is_known || !text.empty();
		sum += std::strtoull(text.c_str(), nullptr, 10); // its first number: ns on a CPU
	}
	return is_known ? std::optional(sum) : std::nullopt;
}

CostAccount::CostAccount(int hub_pid) : hub_pid_(hub_pid), own_start_ns_(own_cpu_time_ns())
{
	if (hub_pid_ == 0)
		return;
	const auto now = process_cpu_ns(hub_pid_);
	if (!now)
		throw Error("--hub-pid: there is no process {} here, or the kernel does not say what it uses",
			    hub_pid_);
	hub_start_ns_ = *now;
}

void CostAccount::add_report(const std::string &host, const std::string &session, const CostSums &untrusted_since_start,
			     Clock::time_point now_at)
{
	if (agents_.size() >= max_hosts && !agents_.contains(host))
		return;
	Agent &agent = agents_[host];
	const CostSums &now = untrusted_since_start;
	if (agent.session == session && !session.empty() && is_later(now, agent.last)) {
		if (!agent.sum)
			agent.sum.emplace();
		add(*agent.sum,
		    {now.cpu_ns - agent.last.cpu_ns, now.bytes - agent.last.bytes, now.messages - agent.last.messages});
		add(agent.sum->elapsed_ns, now_at - agent.last_at);
	}
	agent.session = session;
	agent.last = now;
	agent.last_at = now_at;
}

void CostAccount::add_received(std::size_t bytes)
{
	received_.bytes += bytes;
	++received_.messages;
}

void CostAccount::load(const nlohmann::json &untrusted)
{
	if (!untrusted.is_object())
		return;
	if (untrusted.contains("collector"))
		before_ = sums_in(untrusted["collector"]).value_or(TimedCost());
	if (untrusted.contains("server"))
		if (const auto cpu_ns = number_field(untrusted["server"], "cpu_ns"))
			hub_before_ = TimedCost{{*cpu_ns, 0, 0}, number_field(untrusted["server"], "elapsed_ns")};
	is_hub_partly_known_ = hub_before_ ? untrusted["server"].contains("partly") : before_.messages > 0;
	for (const auto &[host, sums] : object_field(untrusted, "agents").items())
		if (agents_.size() < max_hosts)
			agents_[host].sum = sums_in(sums);
}

Json CostAccount::server_json(Clock::time_point now_at) const
{
	const auto now = hub_pid_ ? process_cpu_ns(hub_pid_) : std::nullopt;
	const bool is_measured = now && *now >= hub_start_ns_;
	if (!is_measured && !hub_before_)
		return {};
	TimedCost cost = hub_before_.value_or(TimedCost());
	if (is_measured) {
		add(cost.cpu_ns, *now - hub_start_ns_);
		add(cost.elapsed_ns, now_at - start_);
	}
	Json server = {{"cpu_ns", cost.cpu_ns}};
	put_elapsed(server, cost);
	if (is_hub_partly_known_ || (!is_measured && received_.messages > 0))
		server["partly"] = true;
	return server;
}

Json CostAccount::json(const std::set<std::string> &hosts, Clock::time_point now) const
{
	TimedCost collector = before_;
	add(collector, received_);
	add(collector.cpu_ns, own_cpu_time_ns() - own_start_ns_);
	add(collector.elapsed_ns, now - start_);
	Json agents = Json::object();
	for (const std::string &host : hosts) {
		const auto agent = agents_.find(host);
		agents[host] = agent != agents_.end() && agent->second.sum ? json_of(*agent->second.sum) : Json();
	}
	return {{"agents", std::move(agents)}, {"server", server_json(now)}, {"collector", json_of(collector)}};
}

} // namespace monitor::fleet
