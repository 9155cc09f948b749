// SPDX-License-Identifier: MIT
#include "thread_selection.h"

#include <algorithm>
#include <cstdlib>

#include "answers/statistics/survey.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/merge.h"
#include "reading/events/threads.h"
#include "reading/filter/text_match.h"

namespace monitor::selection {
namespace {

bool is_empty_or_has(const auto &values, const auto &value)
{
	return values.empty() || std::ranges::find(values, value) != values.end();
}

bool is_empty_or_matches(const std::vector<std::string> &patterns, std::string_view name)
{
	return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string &pattern) {
		       return filter::matches_glob(pattern, name);
	       });
}

// Whether a cgroup is this one or below it, by their paths.
bool is_below(std::string_view path, std::string_view above)
{
	if (!above.starts_with('/') && path.starts_with('/')) // systemd-cgls(1) omits the slash
		path.remove_prefix(1);
	while (above.ends_with('/'))
		above.remove_suffix(1);
	return path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '/');
}

class Cgroups {
public:
	Cgroups(const trace::Trace &trace, const std::vector<std::string> &wanted) : wanted_(wanted)
	{
		if (!wanted.empty())
			paths_ = cgroup_paths(trace.directory());
	}

	bool include(std::uint64_t id) const
	{
		return wanted_.empty() ||
		       (id != 0 && std::ranges::any_of(wanted_, [&](const std::string &each) {
				const bool is_id = each.find_first_not_of("0123456789") == std::string::npos;
				const std::uint64_t number = is_id ? std::strtoull(each.c_str(), nullptr, 10) : 0;
				const auto above = paths_.find(number), path = paths_.find(id);
				return (is_id && number == id) ||
				       (path != paths_.end() && (!is_id || above != paths_.end()) &&
					is_below(path->second, is_id ? above->second : each));
			}));
	}

	// Cgroups that may be in the trace: those with a path, or selected by number.
	std::set<std::uint64_t> all() const
	{
		std::set<std::uint64_t> ids;
		for (const std::string &each : wanted_)
			ids.insert(std::strtoull(each.c_str(), nullptr, 10));
		for (const auto &[id, path] : paths_)
			ids.insert(id);
		std::erase_if(ids, [this](std::uint64_t id) { return !include(id); });
		return ids;
	}

private:
	const std::vector<std::string> &wanted_;
	std::map<std::uint64_t, std::string> paths_;
};

void feed_states(const trace::Trace &trace, analyze::ThreadFold &fold)
{
	trace::Problems ignored; // reported when the selected part is read
	trace::merge(
	    trace, ignored, {}, [&](const trace::Event &event) { fold.event(event); },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    fold.gap(stream, from, to);
	    });
}

// From a fold of the whole trace.
std::vector<bool> ever_selected(const trace::Trace &trace, const analyze::RecordingInfo &info,
				const ThreadSelection &selection, const analyze::ThreadFold &fold)
{
	const auto is_selected = condition_of(trace, info, selection);
	std::vector<bool> selected;
	selected.reserve(fold.threads().size());
	for (const analyze::Thread &thread : fold.threads()) {
		ThreadProperties by{thread.tid, thread.tgid, thread.name, thread.in_tree, fold.cgroup_of(thread)};
		bool is_ever = is_selected(by);
		for (const analyze::CgroupStay &stay : thread.left) {
			by.cgroup = stay.cgroup;
			is_ever = is_ever || is_selected(by);
		}
		selected.push_back(is_ever);
	}
	return selected;
}

// From what other tracers, or several recordings, report about threads.
trace::SelectedThreads selected_by_tid(const trace::Trace &trace, const ThreadSelection &selection)
{
	if (selection.command || !selection.cgroups.empty())
		throw Error(
		    "--command and --cgroup need one recording of monitor: these are several, or of another tracer");
	const statistics::ThreadFields fields(trace.description());
	activities::ThreadTable processes;
	trace::Threads threads(trace);
	trace::Problems ignored;
	trace::merge(
	    trace, ignored, {},
	    [&](const trace::Event &event) {
		    fields.update(event, processes);
		    threads.before(event);
		    threads.after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) { threads.gap(stream); });
	processes.learn(threads);
	trace::SelectedThreads selected;
	processes.visit([&](std::uint32_t machine, std::int64_t tid, std::int64_t process, std::string_view name) {
		selected.add(machine, tid, 0,
			     is_empty_or_has(selection.pids, process) && is_empty_or_has(selection.tids, tid) &&
				 is_empty_or_matches(selection.comms, name));
	});
	return selected;
}

} // namespace

std::function<bool(const ThreadProperties &)>
condition_of(const trace::Trace &trace, const analyze::RecordingInfo &info, const ThreadSelection &selection)
{
	if (selection.command && info.command_pid == 0)
		throw Error("--command: this trace does not know of a recorded command");
	return [&selection, cgroups = Cgroups(trace, selection.cgroups)](const ThreadProperties &thread) {
		return is_empty_or_has(selection.pids, thread.process) && is_empty_or_has(selection.tids, thread.tid) &&
		       is_empty_or_matches(selection.comms, thread.name) && (!selection.command || thread.in_command) &&
		       cgroups.include(thread.cgroup);
	};
}

std::map<std::uint64_t, std::string> cgroup_paths(const std::string &directory)
{
	std::map<std::uint64_t, std::string> paths;
	const auto json = parse_json(read_text(directory + "/.monitor/names"));
	for (const auto &[id, path] : object_field(json, "cgroups").items())
		if (path.is_string())
			paths[std::strtoull(id.c_str(), nullptr, 10)] = path.get<std::string>();
	return paths;
}

std::vector<bool> threads_of_fold(const trace::Trace &trace, const analyze::RecordingInfo &info,
				  const ThreadSelection &selection)
{
	analyze::ThreadFold fold(trace, info);
	feed_states(trace, fold);
	return ever_selected(trace, info, selection, fold);
}

std::optional<std::set<std::uint64_t>> cgroups_of_fold(const trace::Trace &trace, const ThreadSelection &selection)
{
	if (selection.cgroups.empty())
		return std::nullopt;
	return Cgroups(trace, selection.cgroups).all();
}

trace::SelectedThreads threads_of_events(const trace::Trace &trace, const analyze::RecordingInfo &info,
					 const ThreadSelection &selection)
{
	trace::SelectedThreads threads;
	const bool only_numbers =
	    selection.pids.empty() && selection.comms.empty() && selection.cgroups.empty() && !selection.command;
	if (only_numbers) { // any thread with these numbers
		for (std::uint32_t machine = 0; machine < trace.machines().size(); ++machine)
			for (const std::int32_t tid : selection.tids)
				threads.add(machine, tid, 0, true);
		return threads;
	}
	if (trace.is_generic_ctf() || trace.machines().size() > 1)
		return selected_by_tid(trace, selection);
	analyze::ThreadFold fold(trace, info);
	feed_states(trace, fold);
	const std::vector<bool> is_selected = ever_selected(trace, info, selection, fold);
	const Cgroups cgroups(trace, selection.cgroups);
	for (std::size_t i = 0; i < is_selected.size(); ++i) {
		const analyze::Thread &thread = fold.threads()[i];
		std::uint64_t since = thread.born;
		for (const analyze::CgroupStay &stay : thread.left) {
			threads.add(0, thread.tid, since, is_selected[i] && cgroups.include(stay.cgroup));
			since = stay.until;
		}
		threads.add(0, thread.tid, since, is_selected[i] && cgroups.include(fold.cgroup_of(thread)));
	}
	return threads;
}

} // namespace monitor::selection
