// SPDX-License-Identifier: MIT
#include "entry.h"

#include <ctime>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "answers/report/summary.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "folder.h"
#include "reading/analyze/recording_info.h"

namespace monitor::archive {
namespace {

using Json = nlohmann::ordered_json;

template <class Value> Json json_of(const std::optional<Value> &value)
{
	return value ? Json(*value) : Json(nullptr);
}

// False: it is there, and something else.
bool take(const Json &json, const char *key, std::string &text)
{
	const auto found = json.find(key);
	if (found == json.end())
		return true;
	if (found->is_string())
		text = found->get_ref<const std::string &>();
	return found->is_string();
}

std::string now()
{
	return fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)));
}

} // namespace

Entry facts_of(trace::Trace &trace)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	const report::Summary summary = report::summarize(trace, info);
	Entry entry;
	entry.added = now();
	entry.date = info.date;
	entry.user = info.user;
	entry.host = info.host;
	entry.kernel = info.kernel;
	entry.command = info.command_line();
	entry.note = info.note;
	entry.complete = summary.complete;
	if (summary.wall_ns > 0)
		entry.elapsed_ns = summary.wall_ns;
	if (info.present)
		entry.tokens = summary.tokens;
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
		     {"elapsed_ns", json_of(entry.elapsed_ns)},
		     {"tokens", json_of(entry.tokens)},
		     {"lost", json_of(entry.lost)},
		     {"bytes", json_of(entry.bytes)},
		     {"figures", Json::object()}};
	for (const auto &[figure, value] : entry.figures)
		json["figures"][figure] = json_of(value);
	return json_dump(json, 1) + "\n";
}

namespace {

// Under a lock: another writer may be changing another member.
template <class Change> void change_measurement(const std::string &folder, const Change &change)
{
	const Fd lock = lock_folder(folder);
	const std::string text = read_file(folder + "/" + measurement_file, max_measurement_bytes);
	if (!parse_entry(text))
		throw Error(printable(folder) + "/" + measurement_file + " is damaged, so it cannot be changed");
	Json json = parse_json<Json>(text);
	change(json);
	replace_in_folder(folder, measurement_file, json_dump(json, 1) + "\n");
}

} // namespace

void set_note(const std::string &folder, const std::string &note)
{
	change_measurement(folder, [&](Json &json) { json["note"] = note; });
}

void keep_figures(const std::string &folder, const std::map<std::string, std::optional<double>> &figures)
{
	change_measurement(folder, [&](Json &json) {
		for (const auto &[figure, value] : figures)
			json["figures"][figure] = json_of(value);
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
	constexpr std::size_t max_bytes = 1 << 20;
	Group group;
	const std::string path = folder + "/" + file;
	if (::access(path.c_str(), F_OK) < 0)
		return group;
	const Json json = parse_json<Json>(read_file(path, max_bytes));
	bool good =
	    json.is_object() && json.value("version", Json()) == format_version && take(json, "note", group.note);
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
	const Json json = {{"version", format_version}, {"note", group.note}, {"figures", group.figures}};
	replace_in_folder(folder, file, json_dump(json, 1) + "\n");
}

} // namespace monitor::archive
