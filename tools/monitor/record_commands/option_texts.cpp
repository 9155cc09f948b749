// SPDX-License-Identifier: MIT
#include "option_texts.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "problems.h"
#include "recording/card/classes.h"

namespace monitor {
namespace {

constexpr long max_pid = 4194304;    // PID_MAX_LIMIT of the kernel
constexpr std::size_t max_comm = 15; // TASK_COMM_LEN without its NUL

// The process that a thread belongs to, from /proc; 0: there is no such thread.
long process_of(long tid)
{
	const std::string status = read_text(fmt::format("/proc/{}/status", tid));
	const std::size_t at = status.find("\nTgid:");
	return at == std::string::npos ? 0 : std::strtol(status.c_str() + at + 6, nullptr, 10);
}

// PIDs of processes whose main thread has this name, as in ps (TASK_COMM_LEN: 15 bytes).
std::vector<int> processes_called(const std::string &name)
{
	std::vector<int> pids;
	std::error_code error;
	for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
	     entry.increment(error)) {
		const int pid = std::atoi(entry->path().filename().c_str());
		if (pid > 0 && pid != ::getpid() &&
		    read_text(entry->path().string() + "/comm") == name.substr(0, max_comm) + '\n')
			pids.push_back(pid);
	}
	std::ranges::sort(pids);
	return pids;
}

} // namespace

ChosenEvents parse_events(const std::string &text)
{
	ChosenEvents chosen;
	if (text.empty())
		return chosen;
	const auto add = [&](const std::string &family) {
		if (std::ranges::find(chosen.families, family) == chosen.families.end())
			chosen.families.push_back(family);
	};
	std::map<std::string, std::size_t> left_out; // classes, and how many sets leave them out
	std::set<std::string> whole;                 // families
	std::size_t sets = 0;
	for (const std::string &name : split(text)) {
		if (name == "sample")
			throw Error("-e: use --sample-every TIME for samples, in addition to -e");
		if (name == "stack")
			throw Error("-e: use --stacks for stacks, in addition to -e");
		if (name == "trigger")
			throw Error("-e: use --trigger for triggers, in addition to -e");
		if (name == "function")
			throw Error("-e: use --functions for functions, in addition to -e");
		if (const auto set = std::ranges::find(card::event_sets(), name, &card::EventSet::name);
		    set != card::event_sets().end()) {
			++sets;
			for (const char *cls : set->left_out)
				++left_out[cls];
			for (const card::Family &family : card::families())
				if (family.by_default)
					add(family.name);
			continue;
		}
		bool known = false;
		std::string all;
		for (const card::Family &family : card::families()) {
			known |= name == family.name;
			all += all.empty() ? family.name : std::string(", ") + family.name;
		}
		if (!known)
			throw Error("-e: unknown event family '{}'; the families are {}; `monitor record -e help` "
				    "says what they are",
				    name, all);
		add(name);
		whole.insert(name);
	}
	for (const auto &[cls, times] : left_out)
		if (times == sets && !whole.contains(card::family_of(cls)))
			chosen.left_out.push_back(cls);
	return chosen;
}

int parse_process(const std::string &item, const char *option)
{
	char *end;
	const long pid = std::strtol(item.c_str(), &end, 10);
	if (item.empty() || *end || pid <= 0 || pid > max_pid)
		throw Error("{}: '{}' is not a process id", option, item);
	const long process = process_of(pid);
	if (process == 0)
		throw Error("{}: process {} does not exist or has exited", option, pid);
	if (process != pid)
		throw Error("{}: {} is a thread of process {}; use {} {}", option, pid, process, option, process);
	return static_cast<int>(pid);
}

std::vector<int> parse_processes(const std::string &item, const char *or_what)
{
	if (!item.empty() && item.find_first_not_of("+-0123456789") == std::string::npos)
		return {parse_process(item, "-p")};
	const std::vector<int> pids = item.empty() ? std::vector<int>() : processes_called(item);
	if (pids.empty())
		throw Error("-p: '{}' is not a process id, and no process that runs has this name{}", item, or_what);
	print_note("monitor: -p {}: process{} {}\n", printable(item), pids.size() > 1 ? "es" : "",
		   fmt::join(pids, ", "));
	return pids;
}

} // namespace monitor
