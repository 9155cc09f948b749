// SPDX-License-Identifier: MIT
#include "reports.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "batch.h"
#include "names.h"

namespace monitor::fleet {
namespace {

constexpr unsigned report_version = 1;
constexpr std::size_t max_word_chars = 64, max_reason_bytes = 4096;
constexpr const char *kind_names[] = {"refused", "accepted", "started", "ended"};

// An object of this version, or optionally a later one; else a discarded value.
nlohmann::json parse_report(std::string_view untrusted_text, bool may_be_later = false)
{
	if (untrusted_text.size() > max_report_bytes)
		return {};
	nlohmann::json report = parse_json(std::string(untrusted_text));
	const auto version = number_field(report, "version");
	const bool is_known = version == report_version || (may_be_later && version > report_version);
	return is_known ? std::move(report) : nlohmann::json();
}

std::string word_field(const nlohmann::json &report, const char *name)
{
	return text_field(report, name, max_word_chars).value_or("");
}

std::vector<Presence::Run> runs_field(const nlohmann::json &report)
{
	std::vector<Presence::Run> runs;
	for (const nlohmann::json &each : array_field(report, "runs")) {
		Presence::Run run{word_field(each, "run"), word_field(each, "state"), flag_field(each, "flight"),
				  flag_field(each, "takes_part")};
		run.forward = word_field(each, "forward");
		if (runs.size() < max_runs_shown && is_run_name(run.name) && !run.state.empty())
			runs.push_back(std::move(run));
	}
	return runs;
}

std::optional<std::vector<Presence::Kept>> kept_field(const nlohmann::json &report)
{
	const nlohmann::json *field = json_field(report, "kept");
	if (!field || !field->is_array())
		return {};
	std::vector<Presence::Kept> all;
	for (const nlohmann::json &each : *field) {
		Presence::Kept kept;
		kept.run = word_field(each, "run");
		for (const auto &[name, value] :
		     {std::pair("bytes", &kept.bytes), std::pair("blocks", &kept.blocks),
		      std::pair("stored", &kept.stored), std::pair("begin_ns", &kept.begin_ns),
		      std::pair("end_ns", &kept.end_ns)})
			*value = number_field(each, name).value_or(0);
		kept.has_ended = flag_field(each, "ended");
		if (all.size() < max_kept_shown && is_run_name(kept.run))
			all.push_back(std::move(kept));
	}
	return all;
}

template <class Value> void add(nlohmann::ordered_json &report, const char *name, const std::optional<Value> &value)
{
	if (value)
		report[name] = *value;
}

void add_kept(nlohmann::ordered_json &report, const std::vector<Presence::Kept> &all)
{
	report["kept"] = nlohmann::ordered_json::array();
	for (const Presence::Kept &kept : all)
		if (report["kept"].size() < max_kept_shown)
			report["kept"].push_back({{"run", kept.run},
						  {"bytes", kept.bytes},
						  {"blocks", kept.blocks},
						  {"stored", kept.stored},
						  {"begin_ns", kept.begin_ns},
						  {"end_ns", kept.end_ns},
						  {"ended", kept.has_ended}});
}

std::optional<std::vector<CommandAnswer::Trace>> traces_field(const nlohmann::json &report)
{
	const nlohmann::json *field = json_field(report, "traces");
	if (!field || !field->is_array())
		return {};
	std::vector<CommandAnswer::Trace> traces;
	for (const nlohmann::json &each : *field)
		if (const std::string part = word_field(each, "part");
		    traces.size() < max_traces_shown && (part.empty() || is_stream_name(part)))
			traces.push_back({part, flag_field(each, "ended")});
	return traces;
}

void add_traces(nlohmann::ordered_json &report, const std::vector<CommandAnswer::Trace> &traces)
{
	report["traces"] = nlohmann::ordered_json::array();
	for (const CommandAnswer::Trace &trace : traces)
		if (report["traces"].size() < max_traces_shown)
			report["traces"].push_back({{"part", trace.part}, {"ended", trace.has_ended}});
}

} // namespace

std::string presence_text(const Presence &presence)
{
	nlohmann::ordered_json report = {{"version", report_version},
					 {"monitor", presence.monitor_version},
					 {"session", presence.session},
					 {"boot_id", presence.boot_id},
					 {"state", presence.state()},
					 {"runs", nlohmann::ordered_json::array()},
					 {"spool_bytes", presence.spool_bytes},
					 {"spool_max_bytes", presence.spool_max_bytes},
					 {"unsent_blocks", presence.unsent_blocks},
					 {"kept_blocks", presence.kept_blocks},
					 {"lost_blocks", presence.lost_blocks},
					 {"refused", presence.refused},
					 {"user_only", presence.user_only},
					 {"runs_commands", presence.runs_commands}};
	for (const Presence::Run &run : presence.runs)
		if (report["runs"].size() < max_runs_shown) {
			report["runs"].push_back({{"run", run.name},
						  {"state", run.state},
						  {"flight", run.is_flight},
						  {"takes_part", run.takes_part}});
			if (!run.forward.empty())
				report["runs"].back()["forward"] = run.forward;
		}
	add(report, "cpu_ns", presence.cpu_ns);
	add(report, "sent_bytes", presence.sent_bytes);
	add(report, "sent_messages", presence.sent_messages);
	if (presence.system_clock)
		report["system_clock"] = system_clock_json(*presence.system_clock);
	if (presence.kept)
		add_kept(report, *presence.kept);
	return json_dump(report);
}

std::optional<Presence> parse_presence(std::string_view untrusted_text)
{
	const nlohmann::json report = parse_report(untrusted_text, true);
	if (!report.is_object())
		return {};
	Presence presence;
	presence.monitor_version = word_field(report, "monitor");
	presence.session = word_field(report, "session");
	presence.is_of_later_version = number_field(report, "version") != report_version;
	if (presence.is_of_later_version)
		return presence;
	presence.boot_id = word_field(report, "boot_id");
	presence.runs = runs_field(report);
	for (const auto &[name, value] :
	     {std::pair("spool_bytes", &presence.spool_bytes), std::pair("spool_max_bytes", &presence.spool_max_bytes),
	      std::pair("unsent_blocks", &presence.unsent_blocks), std::pair("kept_blocks", &presence.kept_blocks),
	      std::pair("lost_blocks", &presence.lost_blocks), std::pair("refused", &presence.refused)})
		*value = number_field(report, name).value_or(0);
	presence.user_only = flag_field(report, "user_only");
	presence.runs_commands = flag_field(report, "runs_commands");
	for (const auto &[name, value] :
	     {std::pair("cpu_ns", &presence.cpu_ns), std::pair("sent_bytes", &presence.sent_bytes),
	      std::pair("sent_messages", &presence.sent_messages)})
		*value = number_field(report, name);
	if (const nlohmann::json *clock = json_field(report, "system_clock"))
		presence.system_clock = parse_system_clock(*clock);
	presence.kept = kept_field(report);
	return presence;
}

const char *answer_kind_text(CommandAnswer::Kind kind)
{
	return kind_names[static_cast<std::size_t>(kind)];
}

std::string command_answer_text(const CommandAnswer &answer)
{
	nlohmann::ordered_json report = {{"version", report_version},
					 {"kind", answer_kind_text(answer.kind)},
					 {"nonce", answer.nonce},
					 {"run", answer.run},
					 {"reason", answer.reason.substr(0, max_reason_bytes)},
					 {"realtime_ns", answer.realtime_ns},
					 {"session", answer.session}};
	add(report, "late_ns", answer.late_ns);
	add(report, "exit_code", answer.exit_code);
	if (answer.takes_part)
		report["takes_part"] = true;
	if (answer.traces)
		add_traces(report, *answer.traces);
	for (const auto &[name, value] :
	     {std::pair("snapshot", &answer.snapshot), std::pair("forward", &answer.forward)})
		if (!value->empty())
			report[name] = *value;
	return json_dump(report);
}

std::optional<CommandAnswer> parse_command_answer(std::string_view untrusted_text)
{
	const nlohmann::json report = parse_report(untrusted_text);
	const std::string kind = word_field(report, "kind");
	const auto *const found = std::ranges::find(kind_names, kind);
	CommandAnswer answer;
	answer.run = word_field(report, "run");
	if (found == std::end(kind_names) || (!answer.run.empty() && !is_run_name(answer.run)))
		return {};
	answer.kind = static_cast<CommandAnswer::Kind>(found - kind_names);
	answer.nonce = word_field(report, "nonce");
	answer.reason = text_field(report, "reason", 2 * max_reason_bytes).value_or("");
	answer.realtime_ns = number_field(report, "realtime_ns").value_or(0);
	answer.session = word_field(report, "session");
	if (const nlohmann::json *late = json_field(report, "late_ns"); late && late->is_number_integer())
		answer.late_ns = late->get<std::int64_t>();
	if (const nlohmann::json *code = json_field(report, "exit_code"); code && code->is_number_integer())
		answer.exit_code = static_cast<int>(std::clamp<std::int64_t>(code->get<std::int64_t>(), 0, 255));
	answer.takes_part = flag_field(report, "takes_part");
	answer.snapshot = word_field(report, "snapshot");
	answer.traces = traces_field(report);
	answer.forward = word_field(report, "forward");
	return answer;
}

} // namespace monitor::fleet
