// SPDX-License-Identifier: MIT
#include "entry.h"

#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "answers/report/summary.h"
#include "base/date_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "folder.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/merge.h"

namespace monitor::archive {
namespace {

using Json = nlohmann::ordered_json;

// False: it exists, but is not a text.
bool read_text(const Json &json, const char *key, std::string &text)
{
	const auto found = json.find(key);
	if (found == json.end())
		return true;
	if (found->is_string())
		text = found->get_ref<const std::string &>();
	return found->is_string();
}

// Shortens a text of a recording, which is untrusted, at a character boundary.
std::string cut(const std::string &text, std::size_t max_bytes)
{
	if (text.size() <= max_bytes)
		return text;
	constexpr std::string_view mark = "...";
	std::size_t end = max_bytes - mark.size();
	while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
		--end;
	return text.substr(0, end).append(mark);
}

std::string now()
{
	return local_date(std::time(nullptr), "%FT%T%z");
}

} // namespace

Entry entry_of(trace::Trace &trace)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	std::uint64_t tokens = 0;
	trace::merge(trace, {}, [&](const trace::Event &event) { tokens += !event.is_control(); });
	const report::Summary summary =
	    report::summarize(trace, info, analyze::ClockBound(trace.description(), info), tokens);
	constexpr std::size_t max_command_bytes = 4096, max_name_bytes = 256;
	Entry entry;
	entry.added = now();
	entry.date = cut(info.date, max_name_bytes);
	entry.user = cut(info.user, max_name_bytes);
	entry.host = cut(info.host, max_name_bytes);
	entry.kernel = cut(info.kernel, max_name_bytes);
	entry.command = cut(info.command_line(), max_command_bytes);
	entry.note = cut(info.note, max_note_bytes);
	entry.complete = summary.complete;
	if (summary.wall_ns > 0)
		entry.elapsed_ns = summary.wall_ns;
	if (info.present)
		entry.tokens = summary.tokens;
	if (trace.problems().empty()) // events in damaged parts were not counted
		entry.lost = summary.lost;
	entry.bytes = summary.bytes;
	return entry;
}

std::string to_json(const Entry &entry)
{
	Json json = {{"version", format_version},
		     {"note", entry.note},
		     {"added", entry.added},
		     {"date", entry.date},
		     {"user", entry.user},
		     {"host", entry.host},
		     {"kernel", entry.kernel},
		     {"command", entry.command},
		     {"complete", entry.complete},
		     {"elapsed_ns", or_null(entry.elapsed_ns)},
		     {"tokens", or_null(entry.tokens)},
		     {"lost", or_null(entry.lost)},
		     {"bytes", or_null(entry.bytes)},
		     {"figures", Json::object()}};
	for (const auto &[figure, value] : entry.figures)
		json["figures"][figure] = or_null(value);
	return json_dump(json, 1) + "\n";
}

namespace {

// Under a lock, as another writer may be changing another member.
template <class Change> void change_measurement(const std::string &folder, const Change &change)
{
	const Fd lock = lock_folder(folder);
	const std::string text = read_file(folder + "/" + measurement_file, max_measurement_bytes);
	if (!parse_entry(text))
		throw Error(printable(folder) + "/" + measurement_file + " is damaged, so it cannot be changed");
	Json json = parse_json<Json>(text);
	change(json);
	replace_in_folder(folder, measurement_file, json_dump(json, 1) + "\n", max_measurement_bytes);
}

} // namespace

void check_note_size(const std::string &note)
{
	if (note.size() > max_note_bytes)
		throw Error("the note has {} bytes; a note has at most {}", note.size(), max_note_bytes);
}

void set_note(const std::string &folder, const std::string &note)
{
	check_note_size(note);
	change_measurement(folder, [&](Json &json) { json["note"] = note; });
}

void store_figures(const std::string &folder, const std::map<std::string, std::optional<double>> &figures)
{
	change_measurement(folder, [&](Json &json) {
		for (const auto &[figure, value] : figures)
			json["figures"][figure] = or_null(value);
	});
}

std::optional<std::int64_t> seconds_of(const std::string &date)
{
	std::tm parts{};
	const char *const end = ::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%S%z", &parts);
	if (!end || *end)
		return {};
	const long offset = parts.tm_gmtoff;
	return ::timegm(&parts) - offset;
}

Group read_group(const std::string &folder, const char *file)
{
	Group group;
	const std::string path = folder + "/" + file;
	if (::access(path.c_str(), F_OK) < 0)
		return group;
	const Json json = parse_json<Json>(read_file(path, max_group_bytes));
	bool good =
	    json.is_object() && json.value("version", Json()) == format_version && read_text(json, "note", group.note);
	if (good && json.contains("figures")) {
		good = json["figures"].is_array();
		for (const Json &figure : json["figures"]) {
			good = good && figure.is_string();
			if (good)
				group.figures.push_back(figure.get<std::string>());
		}
	}
	if (!good)
		throw Error(printable(path) + " is damaged: correct it or remove it; the measurements do not need it");
	return group;
}

void write_group(const std::string &folder, const char *file, const Group &group)
{
	check_note_size(group.note);
	const Json json = {{"version", format_version}, {"note", group.note}, {"figures", group.figures}};
	replace_in_folder(folder, file, json_dump(json, 1) + "\n", max_group_bytes);
}

} // namespace monitor::archive
