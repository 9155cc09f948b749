// SPDX-License-Identifier: MIT
#include "clock_loops.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "answers/report/table.h"
#include "base/escape.h"
#include "base/fd.h"
#include "line_words.h"
#include "reading/events/collection_clocks.h"
#include "run_clocks.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_loop_file_bytes = 64u << 20, max_loop_line = 512;
constexpr std::string_view loop_head = "monitor-clock-loop 1";

bool parse_loop(std::string_view line, LoopMessage &message)
{
	message.from = next_word(line);
	message.from_boot = next_word(line);
	if (!parse_number(next_word(line), message.sent))
		return false;
	message.boot = next_word(line);
	return parse_number(next_word(line), message.received) && line.empty() && !message.from.empty() &&
	       !message.boot.empty();
}

// A host's lines, and the boot for which they hold.
struct HostLines {
	std::shared_ptr<const trace::ClockMap> map;
	std::string boot;
};

std::map<std::string, HostLines> lines_of_run(const std::string &run)
{
	std::map<std::string, HostLines> all;
	std::vector<std::string> ignored;
	for (auto &[host, part] : trace::read_collection(run, ignored)) {
		const char *why = nullptr;
		constexpr std::uint64_t any_hz = 1'000'000'000; // beyond the nodes, where the bound is unknown
		if (auto map = trace::ClockMap::make(std::move(part.nodes), std::move(part.bounds), any_hz, why))
			all[host] = {std::move(map), boot_of(run, host)};
	}
	return all;
}

// The time from an earlier to a later event, as the latest minus the earliest that the bounds allow; negative:
// impossible.
struct Leeway {
	bool is_known = false;
	std::int64_t ns = 0;
};

Leeway leeway_of(const LoopMessage &message, const HostLines &from, const HostLines &to)
{
	if (message.from_boot != from.boot || message.boot != to.boot)
		return {};
	const std::uint64_t sent = from.map->map(message.sent), received = to.map->map(message.received);
	const trace::ClockBoundNs from_bound = from.map->bound_at(sent), bound = to.map->bound_at(received);
	if (!from_bound || !bound)
		return {};
	const __int128 ns = static_cast<__int128>(received) - sent + *bound + *from_bound;
	constexpr __int128 most = std::numeric_limits<std::int64_t>::max();
	return {true, static_cast<std::int64_t>(std::clamp<__int128>(ns, -most, most))};
}

// The smallest leeway per direction, from one host to another.
using Tightest = std::map<std::pair<std::string, std::string>, std::int64_t>;

void find_loops(const Tightest &tightest, JudgedLoops &judged)
{
	for (const auto &[hosts, there] : tightest) {
		const auto back = tightest.find({hosts.second, hosts.first});
		if (hosts.first > hosts.second || back == tightest.end())
			continue;
		++judged.loops;
		judged.max_open_ns = std::max(
		    judged.max_open_ns, static_cast<std::uint64_t>(std::max({there, back->second, std::int64_t(0)})));
	}
}

// Only one shard of a fleet's run has exchanges: those of all hosts.
bool has_exchanges(const std::string &run)
{
	std::error_code error;
	return std::filesystem::is_directory(std::filesystem::path(run) / ".monitor" / "clocks", error);
}

std::string loops_sentence(const JudgedLoops &judged)
{
	std::string text = fmt::format("{} clock questions went from host to host", judged.messages);
	if (judged.early)
		text += fmt::format("; {} of them arrive before they were sent, by more than the bounds of both clocks "
				    "(the first from {}): the bounds are too small, or a host reports wrong times",
				    judged.early, printable(judged.first_early));
	else if (judged.loops)
		text += fmt::format(
		    ": around each of {} loops over two hosts and the collector the offsets add up to 0, within {}",
		    judged.loops, report::duration_text(static_cast<double>(judged.max_open_ns)));
	else
		text += ", and none both ways between two hosts";
	if (judged.unknown)
		text += fmt::format("; for {} more a bound is unknown", judged.unknown);
	return text;
}

} // namespace

std::vector<LoopMessage> parse_loops(std::string_view untrusted_text, std::uint64_t &damaged)
{
	std::vector<LoopMessage> messages;
	bool is_first = true;
	for (std::size_t end; (end = untrusted_text.find('\n')) != std::string_view::npos; is_first = false) {
		const std::string_view line = untrusted_text.substr(0, std::min(end, max_loop_line));
		untrusted_text.remove_prefix(end + 1);
		if (is_first && line != loop_head) {
			++damaged; // of a later version
			break;
		}
		LoopMessage message;
		if (is_first)
			continue;
		if (parse_loop(line, message))
			messages.push_back(std::move(message));
		else
			++damaged;
	}
	return messages;
}

JudgedLoops judge_loops(const std::string &run)
{
	JudgedLoops judged;
	const auto lines = lines_of_run(run);
	Tightest tightest;
	std::error_code error;
	const auto directory = std::filesystem::path(run) / ".monitor" / "clock_loops";
	for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
	     entry.increment(error)) {
		const std::string host = entry->path().filename().string();
		const auto to = lines.find(host);
		for (const LoopMessage &message :
		     parse_loops(read_text(entry->path().string(), max_loop_file_bytes), judged.damaged)) {
			const auto from = lines.find(message.from);
			const Leeway leeway = from == lines.end() || to == lines.end()
						  ? Leeway()
						  : leeway_of(message, from->second, to->second);
			judged.unknown += !leeway.is_known;
			if (!leeway.is_known)
				continue;
			++judged.messages;
			if (leeway.ns < 0 && judged.early++ == 0)
				judged.first_early = message.from + " to " + host;
			const auto [least, is_new] = tightest.try_emplace({message.from, host}, leeway.ns);
			least->second = std::min(least->second, leeway.ns);
		}
	}
	find_loops(tightest, judged);
	return judged;
}

void judge_clock_loops(const trace::Trace &trace, const std::string &run, std::vector<check::Statement> &statements)
{
	if (trace.machines().size() < 2 || !has_exchanges(run))
		return;
	const JudgedLoops judged = judge_loops(run);
	const auto verdict = judged.early        ? check::Verdict::fails
			     : judged.loops == 0 ? check::Verdict::not_witnessed
						 : check::Verdict::holds;
	statements.push_back({"clock_loop", verdict, loops_sentence(judged)});
}

} // namespace monitor::fleet
