// SPDX-License-Identifier: MIT
#include "cost_table.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/escape.h"
#include "base/json_fields.h"
#include "base/untrusted_json.h"

namespace monitor::fleet_operator {
namespace {

using report::Cell;
using report::cell_of;
using report::Unit;
using untrusted_json::member;
using Number = std::optional<std::uint64_t>;

// Each member may be unknown.
struct Cost {
	Number cpu_ns, bytes, messages, elapsed_ns;
};

// The operational laws for a part; each member may be unknown.
struct Flow {
	std::optional<double> rate;        // of messages, a second
	std::optional<double> demand_ns;   // CPU time of each
	std::optional<double> utilization; // of one CPU; the product of both
};

Cost cost_of(const nlohmann::json &json)
{
	return {number_field(json, "cpu_ns"), number_field(json, "bytes"), number_field(json, "messages"),
		number_field(json, "elapsed_ns")};
}

Number sum(const Number &a, const Number &b)
{
	std::uint64_t result = 0;
	if (!a || !b || __builtin_add_overflow(*a, *b, &result))
		return {};
	return result;
}

std::optional<double> sum(const std::optional<double> &a, const std::optional<double> &b)
{
	return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<double> quotient(const Number &dividend, const Number &divisor)
{
	return dividend && divisor && *divisor > 0
		   ? std::optional(static_cast<double>(*dividend) / static_cast<double>(*divisor))
		   : std::nullopt;
}

Flow flow_of(const Cost &cost, const Number &messages)
{
	Flow flow{quotient(messages, cost.elapsed_ns), quotient(cost.cpu_ns, messages),
		  quotient(cost.cpu_ns, cost.elapsed_ns)};
	if (flow.rate)
		flow.rate = *flow.rate * 1e9;
	return flow;
}

// Of several parts, whose utilizations add up.
Flow flow_of_sum(const std::optional<double> &rate, const std::optional<double> &utilization)
{
	Flow flow{rate, {}, utilization};
	if (rate && utilization && *rate > 0)
		flow.demand_ns = *utilization * 1e9 / *rate;
	return flow;
}

Cell percent(const std::optional<double> &share)
{
	return share ? Cell(*share * 100) : Cell();
}

Cell rounded(const std::optional<double> &value, double factor)
{
	return value ? Cell(std::round(*value * factor)) : Cell();
}

// How many hosts as these would use one CPU of a part that all of them send to.
Cell hosts_at_full(std::size_t hosts, const std::optional<double> &utilization)
{
	if (hosts == 0 || !utilization || *utilization <= 0)
		return {};
	return std::floor(static_cast<double>(hosts) / *utilization);
}

struct Row {
	const char *part;
	std::string host;
	Cost cost;
	Number bytes; // by which its CPU time is divided
	Flow flow;
	std::size_t hosts = 0; // that send to it
	const char *note;      // "": nothing to say
};

void add(report::Table &table, const Row &row)
{
	table.rows.push_back({row.part, printable(row.host), cell_of(row.cost.bytes), cell_of(row.cost.messages),
			      cell_of(row.cost.cpu_ns), rounded(quotient(row.cost.cpu_ns, row.bytes), 1048576),
			      cell_of(row.cost.elapsed_ns), cell_of(row.flow.rate), rounded(row.flow.demand_ns, 1),
			      percent(row.flow.utilization), hosts_at_full(row.hosts, row.flow.utilization), row.note});
}

struct Sums {
	Cost cost;
	Flow flow;
	std::size_t hosts = 0;
};

// A row for each, and one for all.
Sums add_agents(report::Table &table, const nlohmann::json &untrusted_cost)
{
	Sums all{{0, 0, 0, {}}, {0., {}, 0.}, 0};
	for (const auto &[host, json] : object_field(untrusted_cost, "agents").items()) {
		const Cost each = cost_of(json);
		const Flow flow = flow_of(each, each.messages);
		add(table, {"agent", host, each, each.bytes, flow, 0,
			    each.cpu_ns ? "" : "unknown: its agent was not heard twice"});
		all.cost = {sum(all.cost.cpu_ns, each.cpu_ns),
			    sum(all.cost.bytes, each.bytes),
			    sum(all.cost.messages, each.messages),
			    {}};
		all.flow = flow_of_sum(sum(all.flow.rate, flow.rate), sum(all.flow.utilization, flow.utilization));
		++all.hosts;
	}
	if (all.hosts == 0)
		all = {};
	add(table,
	    {"agents", "", all.cost, all.cost.bytes, all.flow, 0, all.cost.cpu_ns ? "" : "unknown: that of a host is"});
	return all;
}

std::vector<report::Column> columns()
{
	return {{"part", "part", Unit::text},
		{"host", "host", Unit::text},
		{"bytes", "bytes", Unit::count},
		{"messages", "messages", Unit::count},
		{"cpu_ns", "CPU", Unit::nanoseconds},
		{"cpu_ns_per_mib", "CPU per MiB", Unit::nanoseconds},
		{"elapsed_ns", "measured for", Unit::nanoseconds},
		{"messages_per_s", "messages/s", Unit::ratio},
		{"cpu_ns_per_message", "CPU per message", Unit::nanoseconds},
		{"cpu_percent", "CPU %", Unit::percent},
		{"hosts_at_100_percent", "hosts at 100 %", Unit::count},
		{"note", "note", Unit::text}};
}

} // namespace

report::Table cost_table(const nlohmann::json &untrusted_accounts)
{
	report::Table table;
	table.columns = columns();
	const nlohmann::json &cost = member(untrusted_accounts, "cost");
	const Sums agents = add_agents(table, cost);
	const Cost collector = cost_of(member(cost, "collector")), server = cost_of(member(cost, "server"));
	const bool is_partly = member(member(cost, "server"), "partly") == true;
	// What the collector received has passed through the server; through a part of its time an unknown part.
	const Flow server_flow = flow_of(server, is_partly ? Number() : collector.messages);
	const Flow collector_flow = flow_of(collector, collector.messages);
	add(table, {"server", "", server, collector.bytes, server_flow, agents.hosts,
		    is_partly       ? "at least: part of the run was collected without --hub-pid"
		    : server.cpu_ns ? ""
				    : "unknown: see --hub-pid"});
	add(table, {"collector", "", collector, collector.bytes, collector_flow, agents.hosts,
		    collector.cpu_ns ? "" : "unknown: it has written none"});
	const Number cpu_ns = sum(sum(agents.cost.cpu_ns, server.cpu_ns), collector.cpu_ns);
	const auto utilization = sum(sum(agents.flow.utilization, server_flow.utilization), collector_flow.utilization);
	add(table, {"sum",
		    "",
		    {cpu_ns, collector.bytes, collector.messages, {}},
		    collector.bytes,
		    flow_of_sum(collector_flow.rate, utilization),
		    0,
		    !cpu_ns     ? "unknown: that of a part is"
		    : is_partly ? "at least: the server's was measured in part"
				: ""});
	return table;
}

} // namespace monitor::fleet_operator
