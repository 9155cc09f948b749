// SPDX-License-Identifier: MIT
#include "cost_table.h"

#include <cmath>
#include <optional>
#include <string>

#include "base/escape.h"
#include "base/json_fields.h"
#include "base/untrusted_json.h"

namespace monitor::fleet_operator {
namespace {

using report::Cell;
using report::Unit;
using untrusted_json::member;
using Number = std::optional<std::uint64_t>;

// Each member may be unknown.
struct Cost {
	Number cpu_ns, bytes, messages;
};

Cost cost_of(const nlohmann::json &json)
{
	return {number_field(json, "cpu_ns"), number_field(json, "bytes"), number_field(json, "messages")};
}

Number sum(const Number &a, const Number &b)
{
	std::uint64_t result = 0;
	if (!a || !b || __builtin_add_overflow(*a, *b, &result))
		return {};
	return result;
}

Cell cell(const Number &number)
{
	return number ? Cell(*number) : Cell();
}

// A part's CPU time per MiB of `bytes`.
Cell for_each_mib(const Number &cpu_ns, const Number &bytes)
{
	if (!cpu_ns || !bytes || *bytes == 0)
		return {};
	return std::round(static_cast<double>(*cpu_ns) * 1048576 / static_cast<double>(*bytes));
}

void add_row(report::Table &table, const char *part, const std::string &host, const Cost &cost, const Number &bytes,
	     const char *unknown_because)
{
	table.rows.push_back({part, printable(host), cell(cost.bytes), cell(cost.messages), cell(cost.cpu_ns),
			      for_each_mib(cost.cpu_ns, bytes), cost.cpu_ns ? "" : unknown_because});
}

} // namespace

report::Table cost_table(const nlohmann::json &untrusted_accounts)
{
	report::Table table;
	table.columns = {{"part", "part", Unit::text},         {"host", "host", Unit::text},
			 {"bytes", "bytes", Unit::count},      {"messages", "messages", Unit::count},
			 {"cpu_ns", "CPU", Unit::nanoseconds}, {"cpu_ns_per_mib", "CPU per MiB", Unit::nanoseconds},
			 {"note", "note", Unit::text}};
	const nlohmann::json &cost = member(untrusted_accounts, "cost");
	Cost all{0, 0, 0};
	std::size_t hosts = 0;
	for (const auto &[host, json] : object_field(cost, "agents").items()) {
		const Cost each = cost_of(json);
		add_row(table, "agent", host, each, each.bytes, "unknown: its agent was not heard twice");
		all = {sum(all.cpu_ns, each.cpu_ns), sum(all.bytes, each.bytes), sum(all.messages, each.messages)};
		++hosts;
	}
	if (hosts == 0)
		all = {};
	const Cost collector = cost_of(member(cost, "collector"));
	Cost server = cost_of(member(cost, "server"));
	add_row(table, "agents", "", all, all.bytes, "unknown: that of a host is");
	add_row(table, "server", "", server, collector.bytes, "unknown: see --hub-pid");
	const bool is_partly = member(member(cost, "server"), "partly") == true;
	if (is_partly)
		table.rows.back().back() = "at least: part of the run was collected without --hub-pid";
	add_row(table, "collector", "", collector, collector.bytes, "unknown: it has written none");
	const Number cpu_ns = sum(sum(all.cpu_ns, server.cpu_ns), collector.cpu_ns);
	add_row(table, "sum", "", {cpu_ns, collector.bytes, collector.messages}, collector.bytes,
		"unknown: that of a part is");
	if (is_partly && cpu_ns)
		table.rows.back().back() = "at least: the server's was measured in part";
	return table;
}

} // namespace monitor::fleet_operator
