// SPDX-License-Identifier: MIT
#include "clock_answers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/durable_file.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/this_boot.h"

namespace monitor::fleet {
namespace {

constexpr std::uint64_t max_exchanges = 4'000'000; // per file: 46 days, one per second
constexpr unsigned max_path_numbers = 1000;

// Reads both clocks several times, and uses the narrowest read.
std::uint64_t offset_to_epoch()
{
	std::uint64_t offset = 0, width = ~0ull;
	for (int i = 0; i < 20; ++i) {
		const std::uint64_t before = clock_ns(CLOCK_MONOTONIC_RAW);
		const std::uint64_t real = clock_ns(CLOCK_REALTIME);
		const std::uint64_t after = clock_ns(CLOCK_MONOTONIC_RAW);
		if (after - before >= width)
			continue;
		width = after - before;
		offset = real - (before + width / 2);
	}
	return offset;
}

std::string header_of(const std::string &name, const HostClock &clock)
{
	return fmt::format("monitor-clock 1 {} clock={} frequency_hz={} boot={}\n", name,
			   clock.is_tsc ? "tsc" : "monotonic", clock.frequency_hz, uuid_text(clock.boot));
}

} // namespace

ClockAnswers::ClockAnswers(const std::string &run_directory) : directory_(run_directory + "/.monitor/clocks")
{
	const std::string path = run_directory + "/.monitor/clocks.json", boot = this_boot();
	const auto json = parse_json(read_text(path, 4096));
	if (const auto offset = number_field(json, "offset_ns"); offset && text_field(json, "boot_id") == boot) {
		offset_ns_ = *offset;
		return;
	}
	offset_ns_ = offset_to_epoch();
	replace_file_durably(
	    path,
	    json_dump(
		nlohmann::ordered_json{{"clock", "CLOCK_MONOTONIC_RAW"}, {"offset_ns", offset_ns_}, {"boot_id", boot}},
		1) +
		'\n',
	    0600);
}

std::uint64_t ClockAnswers::now_ns() const
{
	return clock_ns(CLOCK_MONOTONIC_RAW) + offset_ns_;
}

std::string ClockAnswers::new_path(const std::string &name, const Uuid &boot) const
{
	std::string path = directory_ + '/' + name;
	for (unsigned number = 1; ::access(path.c_str(), F_OK) == 0; ++number) {
		if (number == max_path_numbers)
			return "";
		path = fmt::format("{}/{}.{}-{}", directory_, name, uuid_digits(boot), number);
	}
	return path;
}

// False: the host has had too many clocks; it keeps its current file.
bool ClockAnswers::start_file(Host &host, const std::string &name, const HostClock &clock) const
{
	std::string path = host.files < max_clock_files_of_host ? new_path(name, clock.boot) : "";
	if (path.empty())
		return false;
	host = {clock, std::move(path), {}, 0, host.files + 1};
	return true;
}

void ClockAnswers::write(Host &host, const std::string &name, const ClockQuestion &question)
{
	const ClockTimes &last = question.last;
	const bool is_same =
	    !host.path.empty() && host.clock.boot == question.clock.boot && host.clock.is_tsc == question.clock.is_tsc;
	if (is_same && (last.t1 <= host.last.t1 || last.t2 <= host.last.t2 || host.exchanges >= max_exchanges))
		return; // repeated, or older
	std::string text;
	if (!is_same) {
		if (!start_file(host, name, question.clock))
			return;
		text = header_of(name, host.clock);
	}
	text += fmt::format("{} {} {} {}\n", last.t1, last.t2, last.t3, last.t4);
	const Fd file = open_file(host.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	write_all(file.get(), std::as_bytes(std::span(text)), host.path);
	host.last = last;
	++host.exchanges;
}

std::optional<ClockAnswer> ClockAnswers::answer(const std::string &host, std::span<const std::byte> untrusted,
						std::uint64_t t2, std::string &why)
{
	ClockQuestion question;
	if (!decode_clock_question(untrusted, question, why))
		return {};
	if (question.has_last)
		write(hosts_[host], host, question);
	return ClockAnswer{question.t1, t2, now_ns()};
}

} // namespace monitor::fleet
