// SPDX-License-Identifier: MIT
#include "allowed_options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/escape.h"
#include "base/ranges.h"
#include "base/scanner.h"

namespace monitor::fleet {
namespace {

struct OptionRule {
	const char *name;
	enum class Kind : std::uint8_t { text, number, flag, texts } kind;
	std::size_t max;        // bytes of a text, or the largest number
	const char *characters; // allowed in a text besides letters and digits; null: any but control characters
};
using OptionKind = OptionRule::Kind;

constexpr double max_flight_bytes = 1 << 30;
constexpr std::size_t max_triggers = 16, max_expression_bytes = 16384, max_seconds = 604800; // a week
constexpr OptionRule rules[] = {
    {"events", OptionKind::text, 256, ",_"},
    {"filter", OptionKind::text, max_expression_bytes, nullptr},
    {"duration", OptionKind::number, max_seconds, nullptr},
    {"statistics", OptionKind::text, 16, "."},
    {"keep", OptionKind::text, 16, "."},
    {"count-only", OptionKind::flag, 0, nullptr},
    {"flight", OptionKind::text, 16, "."},
    {"snapshots", OptionKind::number, 1'000'000, nullptr},
    {"trigger", OptionKind::texts, 4096, nullptr},
    {"user", OptionKind::flag, 0, nullptr},
    {"user-only", OptionKind::flag, 0, nullptr},
    {"max-size", OptionKind::number, 1ull << 50, nullptr},
    {"no-calibration", OptionKind::flag, 0, nullptr},
    {"note", OptionKind::text, 1024, nullptr},
};

std::string text_problem(const OptionRule &rule, const std::string &text)
{
	if (text.empty() || text.size() > rule.max)
		return fmt::format("the value of --{} is empty or longer than {} bytes", rule.name, rule.max);
	const std::string other = rule.characters ? rule.characters : "";
	const bool is_fine = std::ranges::all_of(text, [&](char c) {
		return rule.characters
			   ? std::isalnum(static_cast<unsigned char>(c)) || other.find(c) != std::string::npos
			   : static_cast<unsigned char>(c) >= ' ' && c != 0x7f;
	});
	if (!is_fine)
		return fmt::format("the value of --{} has characters that it cannot have", rule.name);
	for (const char *const word : {"run", "signal"})
		if (rule.kind == OptionKind::texts && has_word(text, word))
			return fmt::format("a trigger that is sent to hosts cannot have the word {}: it starts no "
					   "command and sends no signal there",
					   word);
	return "";
}

std::string add_number(const OptionRule &rule, const nlohmann::json &value, std::vector<std::string> &words)
{
	const double number = value.is_number() ? value.get<double>() : 0;
	if (!(number > 0) || number > static_cast<double>(rule.max))
		return fmt::format("the value of --{} is not a number above 0 and up to {}", rule.name, rule.max);
	words.push_back(fmt::format("--{}={}", rule.name, number));
	return "";
}

std::string add_flag(const OptionRule &rule, const nlohmann::json &value, std::vector<std::string> &words)
{
	if (!value.is_boolean())
		return fmt::format("--{} has a value", rule.name);
	if (value.get<bool>())
		words.push_back(fmt::format("--{}", rule.name));
	return "";
}

std::string add_text(const OptionRule &rule, const nlohmann::json &value, std::vector<std::string> &words)
{
	const std::string text = value.is_string() ? value.get<std::string>() : std::string();
	std::string problem = text_problem(rule, text);
	if (problem.empty())
		words.push_back(fmt::format("--{}={}", rule.name, text));
	return problem;
}

std::string add_texts(const OptionRule &rule, const nlohmann::json &value, std::vector<std::string> &words)
{
	if (!value.is_array() || value.size() > max_triggers)
		return fmt::format("--{} has more than {} values, or they are not a list", rule.name, max_triggers);
	for (const nlohmann::json &each : value)
		if (std::string problem = add_text(rule, each, words); !problem.empty())
			return problem;
	return "";
}

// "256M" limits the host's memory, and the size of a snapshot; for "10s" the recorder chooses it.
double flight_bytes(const std::string &text)
{
	if (text.ends_with('s'))
		return max_flight_bytes;
	char *unit;
	double bytes = std::strtod(text.c_str(), &unit);
	const std::size_t power = std::string_view("kmgt").find(static_cast<char>(std::tolower(*unit)));
	for (std::size_t i = 0; *unit && power != std::string_view::npos && i <= power; ++i)
		bytes *= 1024;
	return bytes;
}

// `snapshots`: 0: none requested. Both are well-formed.
std::string flight_problem(const std::string &flight, double snapshots, std::uint64_t max_bytes)
{
	const double bytes = flight_bytes(flight);
	if (!(bytes <= max_flight_bytes))
		return "a flight recorder has 1 GiB at most";
	if (snapshots == 0)
		return "a flight recorder of a fleet ends by itself: add --snapshots N";
	if (snapshots * bytes > static_cast<double>(max_bytes))
		return fmt::format(
		    "{} snapshots can take {:.0f} bytes, and a recording has at most {} on this host (--spool-max): "
		    "fewer --snapshots, or a smaller --flight SIZE (a time counts as 1 GiB)",
		    snapshots, snapshots * bytes, max_bytes);
	return "";
}

// The reason of a refusal, as the end of a message; "": the option was added.
std::string add_option(const OptionRule &rule, const nlohmann::json &value, std::vector<std::string> &words)
{
	switch (rule.kind) {
	case OptionKind::number:
		return add_number(rule, value, words);
	case OptionKind::texts:
		return add_texts(rule, value, words);
	case OptionKind::flag:
		return add_flag(rule, value, words);
	case OptionKind::text:
		break;
	}
	return add_text(rule, value, words);
}

} // namespace

const std::vector<std::string> &all_options()
{
	static const auto names = list_of<std::string>(rules, &OptionRule::name);
	return names;
}

RecordWords allowed_words(const nlohmann::json &untrusted_options, const Allowed &allowed)
{
	RecordWords result;
	const auto refused = [](std::string why) { return RecordWords{std::move(why), {}}; };
	const auto is_set = [&](const char *name) {
		const auto found = untrusted_options.find(name);
		return found != untrusted_options.end() && *found != nlohmann::json(false);
	};
	for (const auto &[name, value] : untrusted_options.items()) {
		const auto *const rule = std::ranges::find(rules, name, &OptionRule::name);
		if (rule == std::end(rules))
			return refused(fmt::format("hosts are not asked for --{}; they may be for --{}",
						   printable(name.substr(0, 64)), fmt::join(all_options(), ", --")));
		if (!allowed.options.contains(name))
			return refused(fmt::format("this host's agent was not started with --allow {}", name));
		if (std::string problem = add_option(*rule, value, result.words); !problem.empty())
			return refused(std::move(problem));
	}
	if (allowed.user_only && !is_set("user-only"))
		return refused(
		    "this host's agent does not run as root, so it records programs' own events only: add --user-only");
	if (is_set("user-only") && !is_set("user"))
		result.words.emplace_back("--user"); // the network has no command to record
	if (is_set("max-size") && untrusted_options["max-size"].get<double>() > static_cast<double>(allowed.max_bytes))
		return refused(
		    fmt::format("a trace has at most {} bytes on this host (--spool-max)", allowed.max_bytes));
	if (is_set("flight")) {
		const double snapshots = is_set("snapshots") ? untrusted_options["snapshots"].get<double>() : 0;
		std::string problem =
		    flight_problem(untrusted_options["flight"].get<std::string>(), snapshots, allowed.max_bytes);
		if (!problem.empty())
			return refused(std::move(problem));
	}
	const bool has_trace = !is_set("statistics") && !is_set("flight");
	if (has_trace && !is_set("max-size"))
		result.words.push_back(fmt::format("--max-size={}", allowed.max_bytes));
	return result;
}

} // namespace monitor::fleet
