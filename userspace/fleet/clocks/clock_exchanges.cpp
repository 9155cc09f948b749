// SPDX-License-Identifier: MIT
#include "clock_exchanges.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/fd.h"
#include "line_words.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_line_bytes = 256;

bool parse_value(std::string_view &line, std::string_view name, std::string_view &value)
{
	value = next_word(line);
	if (!value.starts_with(name))
		return false;
	value.remove_prefix(name.size());
	return !value.empty();
}

bool is_host(std::string_view name)
{
	const auto is_allowed = [](char c) {
		return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
		       c == '-';
	};
	return !name.empty() && name.size() < 64 && name.front() != '.' && name.front() != '-' &&
	       std::all_of(name.begin(), name.end(), is_allowed);
}

bool is_boot(std::string_view text)
{
	constexpr std::size_t uuid_chars = 36;
	return text.size() == uuid_chars && std::all_of(text.begin(), text.end(), [](char c) {
		       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
	       });
}

constexpr std::string_view head_word = "monitor-clock";

const char *parse_head(std::string_view line, ClockExchanges &made)
{
	if (next_word(line) != head_word)
		return "does not start with a line `monitor-clock`";
	if (next_word(line) != "1")
		return "is of a version that this monitor does not know; use the collector's";
	made.host = next_word(line);
	std::string_view clock, frequency, boot;
	if (!is_host(made.host))
		return "does not name a host in its first line";
	if (!parse_value(line, "clock=", clock) || (clock != "tsc" && clock != "monotonic"))
		return "names neither clock=tsc nor clock=monotonic in its first line";
	if (!parse_value(line, "frequency_hz=", frequency) || !parse_number(frequency, made.frequency_hz) ||
	    made.frequency_hz == 0)
		return "has no frequency_hz above 0 in its first line";
	if (!parse_value(line, "boot=", boot) || !is_boot(boot) || !line.empty())
		return "does not end its first line with boot=UUID";
	made.boot = boot;
	made.is_tsc = clock == "tsc";
	return nullptr;
}

bool is_same_clock(const ClockExchanges &a, const ClockExchanges &b)
{
	return a.host == b.host && a.boot == b.boot && a.is_tsc == b.is_tsc && a.frequency_hz == b.frequency_hz;
}

bool parse_exchange(std::string_view line, ClockExchange &exchange)
{
	std::array<std::uint64_t, 4> times{};
	for (std::uint64_t &time : times)
		if (!parse_number(next_word(line), time))
			return false;
	constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max();
	if (!line.empty() || times[1] > latest || times[2] > latest)
		return false;
	exchange = {times[0], static_cast<std::int64_t>(times[1]), static_cast<std::int64_t>(times[2]), times[3]};
	return true;
}

// Parses the lines after the first one.
class ExchangeLines {
public:
	explicit ExchangeLines(ClockExchanges &made) : made_(made) {}

	void add(std::string_view line)
	{
		if (line.starts_with(head_word)) {
			ClockExchanges other; // the collector or the agent was restarted
			is_foreign_ = parse_head(line, other) || !is_same_clock(made_, other);
			return;
		}
		ClockExchange exchange;
		if (!parse_exchange(line, exchange))
			++made_.damaged;
		else if (is_foreign_)
			++made_.foreign;
		else if (exchange.received < exchange.sent || exchange.answered_ns < exchange.arrived_ns)
			++made_.impossible;
		else if (made_.all.size() >= ClockExchanges::max_exchanges)
			++made_.beyond;
		else
			made_.all.push_back(exchange);
	}

private:
	ClockExchanges &made_;
	bool is_foreign_ = false;
};

// The next whole line, at most max_line_bytes of it; an unterminated last line is still being written.
std::optional<std::string_view> next_line(std::string_view &untrusted_text)
{
	const std::size_t end = untrusted_text.find('\n');
	if (end == std::string_view::npos)
		return std::nullopt;
	const std::string_view line = untrusted_text.substr(0, std::min(end, max_line_bytes));
	untrusted_text.remove_prefix(end + 1);
	return line;
}

} // namespace

collection::ClockSamples ClockExchanges::samples() const
{
	collection::ClockSamples samples;
	for (const ClockExchange &exchange : all) {
		samples.at_most.push_back({exchange.sent, exchange.arrived_ns});
		samples.at_least.push_back({exchange.received, exchange.answered_ns});
	}
	return samples;
}

std::optional<ClockExchanges> parse_exchanges(std::string_view untrusted_text, std::string &why)
{
	ClockExchanges made;
	const auto head = next_line(untrusted_text);
	const char *const wrong = head ? parse_head(*head, made) : "has no whole line; record the run again";
	if (wrong) {
		why = wrong;
		return std::nullopt;
	}
	ExchangeLines lines(made);
	while (const auto line = next_line(untrusted_text))
		lines.add(*line);
	return made;
}

ClockExchanges read_exchanges(const std::string &path)
{
	std::string why;
	const std::string text = read_file(path, ClockExchanges::max_file_bytes);
	auto made = parse_exchanges(text, why);
	if (!made)
		throw Error(path + ' ' + why);
	return std::move(*made);
}

} // namespace monitor::fleet
