// SPDX-License-Identifier: MIT
#include "function_search.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/error.h"
#include "file_search.h"
#include "patch_table.h"
#include "patterns.h"

namespace monitor::functions {
namespace {

constexpr std::size_t max_answer_bytes = 64 << 20;
constexpr std::size_t max_notes = 10; // of the functions that cannot be probed
constexpr rlim_t search_seconds = 20, search_bytes = rlim_t{4} << 30;
constexpr auto max_time = std::chrono::minutes(5);

[[noreturn]] void search(int file, int answers, const Pattern &pattern, bool may_patch, const record::User &user)
{
	try {
		record::drop_privileges(user);
		const rlimit time{search_seconds, search_seconds}, memory{search_bytes, search_bytes};
		::setrlimit(RLIMIT_CPU, &time);
		::setrlimit(RLIMIT_AS, &memory);
		const std::string library = preloaded_library();
		const bool can_read = !library.empty() && ::access(library.c_str(), R_OK) == 0;
		const std::string text = search_file(file, pattern, may_patch && can_read);
		for (std::size_t at = 0; at < text.size();) {
			const ssize_t n = ::write(answers, text.data() + at, text.size() - at);
			if (n <= 0)
				::_exit(1);
			at += static_cast<std::size_t>(n);
		}
		::_exit(0);
	} catch (...) {
		::_exit(1);
	}
}

// False on a timeout: the other end's CPU time is limited, but its file system may hang.
bool read_all(int from, std::string &text)
{
	const auto end = std::chrono::steady_clock::now() + max_time;
	char part[1 << 16];
	while (text.size() < max_answer_bytes && std::chrono::steady_clock::now() < end) {
		pollfd answers{from, POLLIN, 0};
		if (::poll(&answers, 1, 100) <= 0)
			continue;
		const ssize_t n = ::read(from, part, sizeof part);
		if (n <= 0)
			return n == 0;
		text.append(part, static_cast<std::size_t>(n));
	}
	return false;
}

std::string answer_of(const Pattern &pattern, bool may_patch, const record::User &user)
{
	const Fd file = record::open_as(user, pattern.path);
	if (!file)
		throw Error(errno, fmt::format("--functions: cannot read {}", pattern.path));
	auto [answers, into] = make_pipe("cannot look for functions");
	const pid_t child = ::fork();
	if (child == 0)
		search(file.get(), into.get(), pattern, may_patch, user);
	into = Fd();
	std::string text;
	const bool is_whole = child > 0 && read_all(answers.get(), text);
	const auto status = is_whole ? wait_for_end(child, std::chrono::seconds(1)) : std::nullopt;
	if (child > 0 && !status)
		end_process(child);
	if (status != 0)
		throw Error("--functions {}: looking through {} failed or took too long", pattern.text, pattern.path);
	return text;
}

class Collection {
public:
	explicit Collection(FoundFunctions &found) : found_(found) {}

	// Returns whether anything matches.
	bool add(const Pattern &pattern, const std::string &answer)
	{
		std::istringstream lines(answer);
		bool any = false;
		for (std::string line; std::getline(lines, line); any = true) {
			FileAnswer function;
			if (!parse_answer(line, function))
				continue;
			if (function.why_not.empty())
				take(pattern, std::move(function.function));
			else
				found_.left_out.push_back({function.function.name, function.why_not});
		}
		return any;
	}

private:
	void take(const Pattern &pattern, card::Function function)
	{
		function.path = pattern.path;
		if (!entries_.insert({function.path, function.entry}).second)
			return;
		if (!names_.insert(function.name).second)
			function.name += fmt::format(" at {:#x}", function.entry);
		names_.insert(function.name);
		found_.functions.push_back(std::move(function));
	}

	FoundFunctions &found_;
	std::set<std::pair<std::string, std::uint64_t>> entries_;
	std::set<std::string> names_;
};

// Of those that are recorded in one way.
std::string summary_of(std::size_t count, const std::string &how, const card::CalibratedCost &event)
{
	std::string text = fmt::format("{} function{} {}", count, count == 1 ? "" : "s", how);
	if (event.rounds > 0) // a call has two events
		text += fmt::format(" (a call takes {:.0f} to {:.0f} ns longer)", 2 * event.low, 2 * event.high);
	return text;
}

} // namespace

FoundFunctions find_functions(const std::vector<std::string> &patterns, const std::vector<std::string> &command,
			      const std::vector<int> &pids, bool may_patch, const record::User &user)
{
	FoundFunctions found;
	Collection collection(found);
	for (const Pattern &pattern : parse_patterns(patterns, command, pids)) {
		const std::string answer = answer_of(pattern, may_patch, user);
		if (answer.starts_with(sought_mark))
			throw Error("--functions {}: {} has no such function; its symbols are in a separate file, "
				    "which is not at any of: {}",
				    pattern.text, pattern.path, answer.substr(1, answer.find('\n') - 1));
		if (!collection.add(pattern, answer))
			throw Error(
			    "--functions {}: {} has no such function; `nm -C` and `nm -DC` list those that have names",
			    pattern.text, pattern.path);
	}
	if (found.functions.empty())
		throw Error("--functions: none of these can be probed; {}", notes(found.left_out).front());
	return found;
}

std::vector<std::string> notes(const std::vector<LeftOut> &left_out)
{
	std::vector<std::string> notes;
	for (std::size_t i = 0; i < std::min(left_out.size(), max_notes); ++i)
		notes.push_back(fmt::format("{}: {}", left_out[i].name, left_out[i].why));
	if (left_out.size() > max_notes)
		notes.push_back(fmt::format("and {} more cannot be probed", left_out.size() - max_notes));
	return notes;
}

std::string summary(const std::vector<card::Function> &functions, const EventCosts &costs)
{
	std::size_t probed = 0, probes = 0;
	for (const card::Function &function : functions)
		if (function.is_probed()) {
			++probed;
			probes += 1 + function.exits.size();
		}
	std::string text;
	if (probed < functions.size())
		text = summary_of(functions.size() - probed, "patched in the command's processes", costs.patched);
	if (probed > 0)
		text +=
		    (text.empty() ? "" : ", ") +
		    summary_of(probed, fmt::format("with {} uprobe{}", probes, probes == 1 ? "" : "s"), costs.probed);
	return text;
}

} // namespace monitor::functions
