// SPDX-License-Identifier: MIT
#include "record_options.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"
#include "recording/card/classes.h"

namespace monitor {
namespace {

// The process that a thread belongs to, from /proc; 0: there is no such thread.
long process_of(long tid)
{
	const std::string status = read_text(fmt::format("/proc/{}/status", tid));
	const std::size_t at = status.find("\nTgid:");
	return at == std::string::npos ? 0 : std::strtol(status.c_str() + at + 6, nullptr, 10);
}

} // namespace

std::vector<std::string> split(const std::string &list)
{
	std::vector<std::string> parts;
	for (std::size_t at = 0; at <= list.size();) {
		const std::size_t comma = std::min(list.find(',', at), list.size());
		parts.push_back(list.substr(at, comma - at));
		at = comma + 1;
	}
	return parts;
}

std::vector<std::string> parse_families(const std::string &text)
{
	std::vector<std::string> chosen;
	if (text.empty())
		return chosen;
	for (const std::string &name : split(text)) {
		if (name == "sample")
			throw Error("-e: use --sample-every TIME for samples, in addition to -e");
		if (name == "stack")
			throw Error("-e: use --stacks for stacks, in addition to -e");
		if (name == "trigger")
			throw Error("-e: use --trigger for triggers, in addition to -e");
		if (name == "function")
			throw Error("-e: use --functions for functions, in addition to -e");
		bool known = false;
		std::string all;
		for (const card::Family &family : card::families()) {
			known |= name == family.name;
			all += all.empty() ? family.name : std::string(", ") + family.name;
		}
		if (!known)
			throw Error(fmt::format("-e: unknown event family '{}'; the families are {}", name, all));
		if (std::ranges::find(chosen, name) == chosen.end())
			chosen.push_back(name);
	}
	return chosen;
}

int parse_process(const std::string &item, const char *or_what, const char *option)
{
	char *end;
	const long pid = std::strtol(item.c_str(), &end, 10);
	if (item.empty() || *end || pid <= 0 || pid > 4194304)
		throw Error(fmt::format("{}: '{}' is {}", option, item, or_what));
	const long process = process_of(pid);
	if (process == 0)
		throw Error(fmt::format("{}: process {} does not exist or has exited", option, pid));
	if (process != pid)
		throw Error(
		    fmt::format("{}: {} is a thread of process {}; use {} {}", option, pid, process, option, process));
	return static_cast<int>(pid);
}

} // namespace monitor
