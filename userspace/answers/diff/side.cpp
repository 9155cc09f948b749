// SPDX-License-Identifier: MIT
#include "side.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "reading/events/time_text.h"

namespace monitor::diff {
namespace {

bool exists(const std::string &path)
{
	std::error_code ignored;
	return std::filesystem::exists(path, ignored);
}

Part parse_part(const std::string &text, const std::string &side)
{
	if (text.empty())
		throw Error("'{}' has an empty name: repetitions are given as A1,A2,A3,A4", side);
	if (exists(text))
		return {text, "", ""};
	const std::size_t at = text.rfind('@');
	if (at == std::string::npos || at == 0)
		throw Error("there is no directory {}", text);
	Part part{text.substr(0, at), "", ""};
	if (!exists(part.directory))
		throw Error("there is no directory {}", part.directory);
	const std::string window = text.substr(at + 1);
	const std::size_t dots = window.find("..");
	if (dots == std::string::npos || window.size() == 2)
		throw Error("{}: a window has two bounds, one of which may be left out, as in {}@1s..2s", text,
			    part.directory);
	part.from = window.substr(0, dots);
	part.to = window.substr(dots + 2);
	return part;
}

} // namespace

std::string Part::text() const
{
	return is_window() ? fmt::format("{}@{}..{}", directory, from, to) : directory;
}

std::vector<Part> parse_side(const std::string &text)
{
	if (exists(text))
		return {{text, "", ""}};
	std::vector<Part> parts;
	for (std::size_t from = 0; from <= text.size();) {
		const std::size_t comma = std::min(text.find(',', from), text.size());
		Part part = parse_part(text.substr(from, comma - from), text);
		if (std::ranges::find(parts, part) != parts.end())
			throw Error("{} is given twice: each repetition is a recording, or a window, of its own",
				    part.text());
		parts.push_back(std::move(part));
		from = comma + 1;
	}
	return parts;
}

trace::TimeRange range_of(const Part &part, const trace::Trace &trace, const trace::TimeRange &whole)
{
	const std::string text = part.text();
	const trace::TimeRange range =
	    trace::parse_bounds(part.from, part.to, trace::span_of(trace), text.c_str(), text.c_str());
	if (range.from > range.to)
		throw Error("{}: the window ends before it starts", text);
	if (range.from < whole.to && range.to >= whole.from)
		return range;
	const auto since_begin_s = [&](std::uint64_t time) {
		return static_cast<double>(trace.since_begin_ns(time)) / 1e9;
	};
	throw Error("{} is outside of what was recorded, which is from {:.3f}s to {:.3f}s", text,
		    since_begin_s(whole.from), since_begin_s(whole.to));
}

} // namespace monitor::diff
