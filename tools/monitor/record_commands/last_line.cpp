// SPDX-License-Identifier: MIT
#include "last_line.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "answers/explain/explain.h"
#include "answers/path/subject.h"
#include "base/child_process.h"
#include "base/escape.h"
#include "base/memory_bound.h"
#include "base/note.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;

constexpr auto time_limit = 1s;
constexpr std::uint64_t memory_limit = 250'000'000;
constexpr int helper_fd = 3;            // the first one that a helper keeps
constexpr std::size_t max_bytes = 4096; // a pipe holds it

std::string first_sentence(const std::string &directory)
{
	trace::Trace trace = trace::Trace::open(directory);
	explain::Question question;
	question.directory = directory;
	const explain::Explanation answer = explain::explain(trace, question);
	const auto cause = std::ranges::find(answer.findings, false, &explain::Finding::is_caveat);
	const explain::Finding &first = answer.findings.front();
	return answer.head.substr(0, answer.head.find(';')) + ". " + first.text +
	       (!first.is_caveat || cause == answer.findings.end() ? "" : " " + cause->text);
}

void limit_resources()
{
	const rlimit time{1, 1};
	::setrlimit(RLIMIT_CPU, &time);
	set_memory_bound(memory_limit);
}

std::string from_child(const std::string &directory)
{
	auto [ours, theirs] = make_pipe("the trace cannot be explained");
	const pid_t child = start_helper({theirs.get()}, limit_resources, [&] {
		const std::string text = first_sentence(directory).substr(0, max_bytes);
		write_all(helper_fd, std::as_bytes(std::span(text)), "a pipe");
		::_exit(0);
	});
	theirs.reset();
	if (child < 0)
		return "";
	const auto status = wait_for_end(child, time_limit);
	if (!status)
		end_process(child);
	std::array<char, max_bytes> text;
	const ssize_t bytes = status == 0 ? ::read(ours.get(), text.data(), text.size()) : 0;
	return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
}

} // namespace

void print_first_sentence(const std::string &directory, const analyze::RecordingInfo &info)
{
	const char *const wanted = std::getenv("MONITOR_EXPLAIN");
	const bool has_path = path::records_command(info) && info.has_tokens && !info.statistics &&
			      info.card != "user" && info.has_program("sched_switch") &&
			      info.has_program("sched_waking");
	if (!has_path || (wanted && wanted == std::string_view("no")))
		return;
	const std::string sentence = from_child(directory),
			  more = explain::command_text({"monitor", "explain", directory});
	if (sentence.empty())
		print_note("monitor: why it took that long: {}\n", more);
	else
		print_note("monitor: {}\nmonitor: more: {}\n", printable(sentence), more);
}

} // namespace monitor
