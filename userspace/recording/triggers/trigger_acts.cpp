// SPDX-License-Identifier: MIT
#include "trigger_acts.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/seconds_text.h"
#include "recording/card/classes.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::record {
namespace {

constexpr std::uint64_t minute_ns = 60'000'000'000;

std::string text_of(const card::ClassField &field, std::uint64_t bits)
{
	if (field.kind[0] == 's' &&
	    std::string_view(field.kind).find_first_not_of("s0123456789") == std::string_view::npos) {
		const unsigned unused = 64 - field.bits;
		return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
	}
	return field.kind[0] == 'x' ? fmt::format("{:#x}", bits) : std::to_string(bits);
}

} // namespace

std::vector<std::string> fields_of(const edc_firing &firing)
{
	std::vector<std::string> all;
	const auto rows = card::kernel_classes();
	const auto row = std::ranges::find(rows, firing.event & 0xffff, &card::ClassRow::id);
	if (row == rows.end())
		return all;
	const std::uint64_t argument = firing.event >> 16;
	unsigned argument_bit = 0, payload_bit = 0;
	for (const card::ClassField &field : row->fields) {
		const bool in_argument = argument_bit < 16;
		unsigned &bit = in_argument ? argument_bit : payload_bit;
		if (field.bits == 128) { // a name
			char name[17] = {};
			if (bit + field.bits <= sizeof firing.words * 8)
				std::memcpy(name, reinterpret_cast<const char *>(firing.words) + bit / 8, 16);
			all.push_back(fmt::format("{}={}", field.name, name));
		} else if (in_argument || bit + field.bits <= sizeof firing.words * 8) {
			const std::uint64_t word = in_argument ? argument : firing.words[bit / 64];
			all.push_back(
			    fmt::format("{}={}", field.name,
					text_of(field, word >> bit % 64 & (~std::uint64_t(0) >> (64 - field.bits)))));
		}
		bit += field.bits;
	}
	return all;
}

std::vector<std::string> fields_of(const edc_firing &firing, const card::UserClass &cls)
{
	std::vector<std::string> all;
	const auto add = [&all](const card::UserField &field, std::uint64_t bits) {
		const auto label = std::ranges::find(field.labels, bits, [](const auto &pair) { return pair.second; });
		const unsigned width = std::stoul(
		    field.kind.find_first_of("0123456789") == std::string::npos ? "64" : field.kind.substr(1));
		all.push_back(fmt::format("{}={}", field.name,
					  label != field.labels.end()
					      ? label->first
					      : text_of({field.name.c_str(), field.kind.c_str(), width}, bits)));
	};
	add(cls.argument, firing.event >> 16);
	unsigned at = 0; // words
	for (const card::UserField &field : cls.payload) {
		const unsigned words = field.words();
		if (at + words > std::size(firing.words))
			break;
		if (field.is_text()) {
			std::string text(reinterpret_cast<const char *>(firing.words + at), words * 8);
			text.resize(std::min(text.size(), text.find('\0')));
			all.push_back(field.name + "=" + text);
		} else {
			add(field, firing.words[at]);
		}
		at += words;
	}
	return all;
}

TriggerActs::TriggerActs(const std::vector<NamedTrigger> &triggers, std::string directory, const User &user,
			 const card::UserCard *users)
    : triggers_(triggers), directory_(std::move(directory)), users_(users), accounts_(triggers.size())
{
	std::vector<std::string> commands;
	for (std::size_t i = 0; i < triggers.size(); ++i)
		for (const TriggerAct &act : triggers[i].acts) {
			ActCounts &account = accounts_[i];
			if (act.kind == TriggerAct::Kind::signal)
				account.signals = account.signals_refused = 0;
			if (act.kind != TriggerAct::Kind::run)
				continue;
			account.runs = account.runs_failed = account.running = account.runs_left_out = 0;
			commands.push_back(act.text);
			trigger_of_.push_back(i);
			per_minute_.push_back(act.number);
		}
	started_ns_.resize(commands.size());
	const bool signals =
	    std::ranges::any_of(accounts_, [](const ActCounts &account) { return account.signals.has_value(); });
	if (!commands.empty() || signals)
		runner_ = std::make_unique<TriggerRunner>(std::move(commands), user);
}

std::vector<std::string> TriggerActs::environment(const Firing &firing) const
{
	const edc_firing &noted = firing.noted;
	std::vector<std::string> all = {
	    "MONITOR_TRIGGER=" + triggers_[firing.trigger].name, "MONITOR_DIRECTORY=" + directory_,
	    "MONITOR_TIME=" + seconds_text(static_cast<std::int64_t>(firing.at.realtime_ns))};
	if (!triggers_[firing.trigger].first_key.empty())
		all.push_back(fmt::format("MONITOR_KEY={}", static_cast<std::int64_t>(noted.key)));
	const bool are_numbers_known = in_first_pid_namespace(); // PIDs are valid for the command
	if (noted.tid >= 0 && are_numbers_known)
		all.push_back(fmt::format("MONITOR_TID={}", noted.tid));
	if (firing.by == Firing::By::clock || !noted.event)
		return all;
	if (are_numbers_known)
		all.push_back(fmt::format("MONITOR_PID={}", noted.tgid));
	if (firing.cpu != EDC_CPU_UNKNOWN)
		all.push_back(fmt::format("MONITOR_CPU={}", firing.cpu));
	const auto add_fields = [&all](const std::vector<std::string> &fields) {
		for (const std::string &field : fields)
			all.push_back("MONITOR_FIELD_" + field);
	};
	if (firing.by == Firing::By::program) {
		const std::vector<card::UserClass> classes = users_->classes();
		const auto of = std::ranges::find(classes, noted.event & 0xffff, &card::UserClass::id);
		if (of != classes.end()) {
			all.push_back("MONITOR_EVENT=" + of->name);
			add_fields(fields_of(noted, *of));
		}
		return all;
	}
	const auto rows = card::kernel_classes();
	const auto row = std::ranges::find(rows, noted.event & 0xffff, &card::ClassRow::id);
	if (row != rows.end())
		all.push_back(fmt::format("MONITOR_EVENT={}", row->name));
	add_fields(fields_of(noted));
	return all;
}

bool TriggerActs::is_too_often(std::uint32_t command, const Firing &firing)
{
	std::deque<std::uint64_t> &started = started_ns_[command];
	while (!started.empty() && firing.at.monotonic_ns - started.front() > minute_ns)
		started.pop_front();
	return started.size() >= per_minute_[command];
}

void TriggerActs::send_signals(const Firing &firing)
{
	ActCounts &account = accounts_[firing.trigger];
	const pid_t process = firing.noted.tgid > 0 ? firing.noted.tgid : firing.noted.tid;
	for (const TriggerAct &act : triggers_[firing.trigger].acts)
		if (act.kind == TriggerAct::Kind::signal) {
			const bool sent =
			    process != ::getpid() && runner_->signal(process, static_cast<int>(act.number));
			++*(sent ? account.signals : account.signals_refused);
		}
}

void TriggerActs::act(const Firing &firing)
{
	if (!runner_)
		return;
	collect();
	send_signals(firing);
	ActCounts &account = accounts_[firing.trigger];
	for (std::uint32_t command = 0; command < trigger_of_.size(); ++command) {
		if (trigger_of_[command] != firing.trigger)
			continue;
		if (is_too_often(command, firing) || !runner_->run(command, environment(firing))) {
			++*account.runs_left_out;
			continue;
		}
		started_ns_[command].push_back(firing.at.monotonic_ns);
		++*account.runs;
		account.running = 1;
	}
}

void TriggerActs::collect()
{
	if (!runner_)
		return;
	for (const TriggerRunner::Ended &ended : runner_->take_ended()) {
		if (ended.command >= trigger_of_.size())
			continue;
		ActCounts &account = accounts_[trigger_of_[ended.command]];
		account.running = 0;
		*account.runs_failed += ended.status != 0;
	}
}

} // namespace monitor::record
