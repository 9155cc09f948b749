// SPDX-License-Identifier: MIT
#include "fleet_tables.h"

#include <utility>

#include <fmt/format.h>

#include "base/date_text.h"
#include "base/escape.h"

namespace monitor::fleet_operator {
namespace {

using report::Cell;
using report::Unit;

std::string runs_text(const fleet::Presence &presence)
{
	std::string text;
	for (const fleet::Presence::Run &run : presence.runs)
		text += fmt::format("{}{}{}", text.empty() ? "" : ", ", run.name,
				    run.state == "recording" ? "" : " (" + printable(run.state) + ")");
	return text;
}

std::string notes_of(const HostSeen &host)
{
	std::string notes =
	    host.sessions.size() > 1
		? fmt::format("{} agents have this name: see whether one was restarted, else stop all but one",
			      host.sessions.size())
		: "";
	if (host.presence.is_of_later_version)
		notes +=
		    fmt::format("{}its monitor is of a later version: upgrade the one here", notes.empty() ? "" : "; ");
	if (host.presence.user_only)
		notes += fmt::format("{}programs' own events only", notes.empty() ? "" : "; ");
	return notes;
}

// "": unknown.
std::string local_time(std::uint64_t ns)
{
	return ns == 0 ? "" : local_date(static_cast<std::int64_t>(ns / 1'000'000'000), "%F %T");
}

// The state, and why.
std::pair<std::string, std::string> state_of(const Outcome &outcome, bool is_present)
{
	if (outcome.refused)
		return {"refused", outcome.refused->reason};
	if (outcome.ended && outcome.ended->exit_code.value_or(0) != 0)
		return {"failed", outcome.ended->reason};
	if (outcome.ended)
		return {"ended", outcome.ended->reason};
	if (outcome.started)
		return {"recording", ""};
	if (outcome.accepted)
		return {"accepted", ""};
	return {"no answer", is_present ? "it was there before the command: see its agent's journal"
					: "no agent of this host is connected to the hub"};
}

} // namespace

report::Table status_table(const std::map<std::string, HostSeen> &seen, const std::set<std::string> &known)
{
	report::Table table;
	table.columns = {{"host", "host", Unit::text},
			 {"state", "state", Unit::text},
			 {"runs", "runs", Unit::text},
			 {"monitor", "version", Unit::text},
			 {"session", "session", Unit::text},
			 {"boot_id", "boot", Unit::text},
			 {"spool_bytes", "spool", Unit::bytes},
			 {"spool_max_bytes", "of", Unit::bytes},
			 {"unsent_blocks", "unsent", Unit::count},
			 {"kept_blocks", "kept", Unit::count},
			 {"lost_blocks", "lost", Unit::count},
			 {"refused", "refused", Unit::count},
			 {"system_clock", "system clock", Unit::text},
			 {"note", "note", Unit::text}};
	for (const auto &[name, host] : seen) {
		const fleet::Presence &presence = host.presence;
		if (presence.is_of_later_version) {
			std::vector<Cell> row(table.columns.size());
			row[0] = name;
			row[1] = presence.state();
			row[table.column("monitor")] = printable(presence.monitor_version);
			row[table.column("session")] = printable(presence.session);
			row[table.column("note")] = notes_of(host);
			table.rows.push_back(std::move(row));
			continue;
		}
		table.rows.push_back({name, presence.state(), runs_text(presence), printable(presence.monitor_version),
				      printable(presence.session), printable(presence.boot_id), presence.spool_bytes,
				      presence.spool_max_bytes, presence.unsent_blocks, presence.kept_blocks,
				      presence.lost_blocks, presence.refused,
				      presence.system_clock ? presence.system_clock->text() : "", notes_of(host)});
	}
	for (const std::string &name : known)
		if (!seen.contains(name)) {
			std::vector<Cell> row(table.columns.size());
			row[0] = name;
			row[1] = "no answer";
			table.rows.push_back(std::move(row));
		}
	table.sort_by(0);
	return table;
}

report::Table kept_table(const std::map<std::string, HostSeen> &seen, const std::vector<std::string> &hosts,
			 const std::string &run)
{
	report::Table table;
	table.columns = {{"host", "host", Unit::text},
			 {"run", "run", Unit::text},
			 {"from", "from", Unit::text},
			 {"to", "to", Unit::text},
			 {"bytes", "size", Unit::bytes},
			 {"blocks", "blocks", Unit::count},
			 {"stored_blocks", "stored", Unit::count},
			 {"state", "state", Unit::text},
			 {"begin_ns", "begin", Unit::count},
			 {"end_ns", "end", Unit::count}};
	const std::vector<fleet::Presence::Kept> none;
	for (const std::string &name : hosts) {
		const auto host = seen.find(name);
		for (const fleet::Presence::Kept &kept :
		     host == seen.end() ? none : host->second.presence.kept.value_or(none)) {
			if (!run.empty() && kept.run != run)
				continue;
			Cell begin, end;
			if (kept.end_ns) {
				begin = kept.begin_ns;
				end = kept.end_ns;
			}
			table.rows.push_back({name, kept.run, local_time(kept.begin_ns), local_time(kept.end_ns),
					      kept.bytes, kept.blocks, kept.stored,
					      kept.has_ended ? "ended" : "recording", begin, end});
		}
	}
	return table;
}

report::Table outcome_table(const Outcomes &outcomes, const std::set<std::string> &present)
{
	report::Table table;
	table.columns = {{"host", "host", Unit::text},
			 {"state", "state", Unit::text},
			 {"late_ns", "started late", Unit::difference},
			 {"exit_code", "exit code", Unit::count},
			 {"reason", "why", Unit::text}};
	for (const auto &[name, outcome] : outcomes) {
		auto [state, reason] = state_of(outcome, present.contains(name));
		Cell late, code;
		if (outcome.started && outcome.started->late_ns)
			late = static_cast<double>(*outcome.started->late_ns);
		if (outcome.ended && outcome.ended->exit_code)
			code = static_cast<std::uint64_t>(*outcome.ended->exit_code);
		table.rows.push_back({name, std::move(state), late, code, printable(reason)});
	}
	return table;
}

report::Table snapshot_table(const Outcomes &outcomes, const std::set<std::string> &present)
{
	report::Table table;
	table.columns = {{"host", "host", Unit::text},
			 {"state", "state", Unit::text},
			 {"snapshot", "snapshot", Unit::text},
			 {"late_ns", "frozen after", Unit::difference},
			 {"reason", "what", Unit::text}};
	for (const auto &[name, outcome] : outcomes) {
		auto [state, reason] = state_of(outcome, present.contains(name));
		Cell snapshot, late;
		if (outcome.ended && !outcome.ended->snapshot.empty()) {
			state = "taken";
			snapshot = printable(outcome.ended->run + '/' + outcome.ended->snapshot);
			if (outcome.ended->late_ns)
				late = static_cast<double>(*outcome.ended->late_ns);
		}
		table.rows.push_back({name, std::move(state), std::move(snapshot), late, printable(reason)});
	}
	return table;
}

std::string spread_text(const StartSpread &spread, std::size_t addressed)
{
	if (spread.hosts == 0)
		return "no host has started";
	std::string text = fmt::format("{} of {} hosts started", spread.hosts, addressed);
	if (spread.hosts > 1)
		text += fmt::format(", within {} of each other as they were heard here",
				    report::duration_text(spread.arrived_ns));
	if (spread.hosts == 1 && spread.earliest_ns)
		return text + fmt::format(", {} after the planned time by its own clock",
					  report::duration_text(static_cast<double>(*spread.earliest_ns)));
	if (spread.earliest_ns)
		text += fmt::format(", {} to {} after the planned time by their own clocks",
				    report::duration_text(static_cast<double>(*spread.earliest_ns)),
				    report::duration_text(static_cast<double>(*spread.latest_ns)));
	return text;
}

} // namespace monitor::fleet_operator
