// SPDX-License-Identifier: MIT
#include "finding.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/text_width.h"

namespace monitor::explain {
namespace {

constexpr std::size_t max_lines = 25, usual_width = 120, min_width = 40;

constexpr const char *confidence_names[] = {"high", "medium", "low"};

// At blanks; further lines are indented.
std::vector<std::string> wrapped(const std::string &text, std::size_t width, const std::string &indent)
{
	std::vector<std::string> lines(1);
	for (std::size_t at = 0; at < text.size();) {
		std::size_t end = text.find(' ', at);
		end = end == std::string::npos ? text.size() : end;
		const std::string word = text.substr(at, end - at);
		const bool is_first = lines.back().empty() || lines.back() == indent;
		if (!is_first && text_width(lines.back()) + 1 + text_width(word) > width)
			lines.push_back(indent + word);
		else
			lines.back() += (is_first ? "" : " ") + word;
		at = end + 1;
	}
	return lines;
}

// For a shell.
std::string shell_word(const std::string &word)
{
	const auto is_plain = [](char c) {
		return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("-_./:,=+@%", c);
	};
	if (!word.empty() && std::ranges::all_of(word, is_plain))
		return word;
	std::string text = "'";
	for (const char c : word)
		text += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return printable(text + "'");
}

std::vector<std::string> looked_for_lines(const Explanation &explanation, std::size_t width)
{
	constexpr double max_unknown = 0.5; // of the time: more may hide anything
	if (explanation.bound >= max_unknown)
		return {"Of all else nothing can be said."};
	std::vector<std::string> below, missing;
	for (const LookedFor &each : explanation.looked_for)
		if (!each.name.empty())
			(each.is_recorded ? below : missing).push_back(each.name);
	std::string text;
	const bool is_uncertain = std::ranges::count(explanation.findings, "uncertain", &Finding::key) > 0;
	if (!below.empty())
		text = fmt::format("Also looked for, below what matters{}: {}.",
				   is_uncertain ? " as far as is known" : "", fmt::join(below, ", "));
	if (!missing.empty())
		text += fmt::format("{}Not recorded: {}.", text.empty() ? "" : " ", fmt::join(missing, ", "));
	return wrapped(text, width, "");
}

} // namespace

std::string command_text(const std::vector<std::string> &command)
{
	std::string text;
	for (const std::string &word : command)
		text += (text.empty() ? "" : " ") + shell_word(word);
	return text;
}

std::string to_text(const Explanation &explanation, std::size_t width)
{
	width = width ? std::max(std::min(width, usual_width), min_width) : usual_width;
	std::vector<std::string> lines = wrapped(printable(explanation.head), width, "  ");
	std::vector<std::string> last =
	    explanation.rest.empty() ? std::vector<std::string>() : wrapped(explanation.rest, width, "");
	std::ranges::move(looked_for_lines(explanation, width), std::back_inserter(last));
	std::size_t number = 0;
	for (const Finding &finding : explanation.findings) {
		std::vector<std::string> more =
		    wrapped(fmt::format("{}. {}", number + 1, printable(finding.text)), width, "   ");
		if (!finding.command.empty())
			more.push_back("      " + command_text(finding.command));
		if (lines.size() + more.size() + last.size() + 1 > max_lines)
			break;
		++number;
		std::ranges::move(more, std::back_inserter(lines));
	}
	if (number < explanation.findings.size())
		lines.push_back(fmt::format("... and {} more; --json has all", explanation.findings.size() - number));
	lines.insert(lines.end(), last.begin(), last.end());
	return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string to_json(const Explanation &explanation)
{
	nlohmann::ordered_json json = {{"elapsed_ns", explanation.elapsed_ns},
				       {"bound", explanation.bound},
				       {"findings", nlohmann::ordered_json::array()},
				       {"looked_for", nlohmann::ordered_json::array()}};
	for (const Finding &finding : explanation.findings)
		json["findings"].push_back({{"key", finding.key},
					    {"share", finding.share},
					    {"bound", finding.bound},
					    {"confidence", confidence_names[static_cast<unsigned>(finding.confidence)]},
					    {"evidence", finding.evidence},
					    {"text", finding.text},
					    {"command", finding.command}});
	for (const LookedFor &each : explanation.looked_for)
		json["looked_for"].push_back({{"key", each.key}, {"recorded", each.is_recorded}});
	return json_dump(json, 1) + "\n";
}

} // namespace monitor::explain
