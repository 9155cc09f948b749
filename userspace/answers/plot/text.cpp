// SPDX-License-Identifier: MIT
#include "text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text_width.h"
#include "scale.h"

namespace monitor::plot {
namespace {

constexpr const char *eighths_right[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr const char *eighths_up[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string repeated(const char *text, std::size_t times)
{
	std::string all;
	for (std::size_t i = 0; i < times; ++i)
		all += text;
	return all;
}

// Pads to a number of columns.
std::string padded(const std::string &text, std::size_t columns, bool to_right)
{
	const std::string cut = report::cut_text(text, columns);
	const std::string pad(columns - std::min(columns, text_width(cut)), ' ');
	return to_right ? pad + cut : cut + pad;
}

std::size_t rounded(double columns)
{
	return static_cast<std::size_t>(std::lround(columns));
}

// A bar from the left edge: full characters and a fraction, at least the narrowest mark for a value above 0.
std::string bar_right(double columns, const Look &look)
{
	if (columns <= 0)
		return "";
	if (!look.has_unicode)
		return std::string(std::max<std::size_t>(1, rounded(columns)), '#');
	const std::size_t eighths = std::max<std::size_t>(1, rounded(columns * 8));
	return repeated("█", eighths / 8) + eighths_right[eighths % 8];
}

std::string bar_text(const Bar &bar, const Scale &scale, std::size_t columns, const Look &look)
{
	if (!bar.value)
		return "";
	const auto width = static_cast<double>(columns);
	const auto at = [&](double value) { return rounded(scale.share(value) * width); };
	const char *const full = look.has_unicode ? "█" : "#";
	if (*bar.value < 0) {
		const std::size_t end = at(0), begin = std::min(end - std::min<std::size_t>(end, 1), at(*bar.value));
		return std::string(begin, ' ') + repeated(full, end - begin);
	}
	const std::string known = bar_right((scale.share(*bar.value) - scale.share(0)) * width, look);
	std::string text = std::string(at(0), ' ') + known;
	if (bar.unknown > 0) {
		const std::size_t begin = text_width(text), end = at(*bar.value + bar.unknown);
		const std::size_t hatched = std::max<std::size_t>(1, end - std::min(end, begin));
		text += repeated(look.has_unicode ? "░" : "?", std::min(hatched, columns - std::min(columns, begin)));
	}
	return text;
}

std::string without_trailing_blanks(std::string line)
{
	line.erase(line.find_last_not_of(' ') + 1);
	return line + "\n";
}

std::string bars_text(const Chart &chart, const Look &look)
{
	const std::size_t width = std::max(look.width, min_width);
	std::size_t labels = 0, values = 0;
	bool has_unknown = false;
	for (const Bar &bar : chart.bars) {
		labels = std::max(labels, text_width(bar.label));
		values = std::max(values, text_width(bar.text));
		has_unknown = has_unknown || bar.unknown > 0;
	}
	values = std::min(values, width / 4);
	labels = std::min(labels, width / 2 - values);
	const std::size_t columns = width - labels - values - 4;
	const Scale scale = scale_of(chart.bars);
	std::string text;
	for (const Bar &bar : chart.bars)
		text += without_trailing_blanks(padded(bar.label, labels, chart.kind == Chart::Kind::histogram) + "  " +
						padded(bar.text, values, true) + "  " +
						bar_text(bar, scale, columns, look));
	const std::string low = tick_text(scale.low, chart.unit), high = tick_text(scale.high, chart.unit);
	if (!chart.bars.empty())
		text +=
		    std::string(labels + values + 4, ' ') + low + padded(high, columns - text_width(low), true) + "\n";
	if (has_unknown)
		text += fmt::format("{}: unknown\n", look.has_unicode ? "░" : "?");
	return text;
}

// A value per terminal column: the largest of those that fall into it.
struct Columns {
	std::vector<double> heights; // relative to the scale; below 0: unknown
	bool has_unknown = false;
	std::size_t values_per_column = 1;
};

Columns columns_of(const Series &series, const Scale &scale, std::size_t width)
{
	Columns columns;
	const std::size_t count = series.values.size();
	const std::size_t shown = std::min(count, width);
	columns.values_per_column = shown ? (count + shown - 1) / shown : 1;
	const std::size_t repeats = count ? std::max<std::size_t>(1, width / count) : 1;
	for (std::size_t i = 0; i < count; i += columns.values_per_column) {
		double height = -1;
		for (std::size_t k = i; k < std::min(count, i + columns.values_per_column); ++k)
			if (series.values[k])
				height = std::max(height, scale.share(*series.values[k]));
			else
				columns.has_unknown = true;
		columns.heights.insert(columns.heights.end(), repeats, height);
	}
	return columns;
}

// Rows from top to bottom. A value above 0 has a mark.
std::string rows_text(const Columns &columns, std::size_t rows, const Look &look)
{
	std::string text;
	for (std::size_t row = rows; row-- > 0;) {
		std::string line = "  ";
		for (const double height : columns.heights) {
			if (height < 0) {
				line += row == 0 ? "?" : " ";
				continue;
			}
			const double here = height * static_cast<double>(rows) - static_cast<double>(row);
			auto eighths = static_cast<std::size_t>(std::clamp(std::lround(here * 8), 0L, 8L));
			if (row == 0 && height > 0)
				eighths = std::max<std::size_t>(eighths, 1);
			line += look.has_unicode ? eighths_up[eighths] : eighths >= 4 ? "#" : eighths ? "." : " ";
		}
		text += without_trailing_blanks(line);
	}
	return text;
}

std::string series_text(const Chart &chart, const Look &look)
{
	const std::size_t width = std::max(look.width, min_width) - 2;
	const std::size_t rows = chart.series.size() <= 1 ? 8 : chart.series.size() <= 3 ? 4 : 2;
	Scale common{0, 0};
	for (const Series &series : chart.series)
		common = joined(common, scale_of(series));
	std::string text;
	bool has_unknown = false;
	std::size_t per_column = 1, drawn = 0;
	for (const Series &series : chart.series) {
		const Scale scale = chart.has_one_scale ? common : scale_of(series);
		const Columns columns = columns_of(series, scale, width);
		has_unknown = has_unknown || columns.has_unknown;
		per_column = columns.values_per_column;
		drawn = columns.heights.size();
		text += report::cut_text(fmt::format("{}, {} to {}", series.label, tick_text(scale.low, series.unit),
						     tick_text(scale.high, series.unit)),
					 width) +
			"\n" + rows_text(columns, rows, look);
	}
	if (!chart.times.empty()) {
		const std::size_t begin = text_width(chart.begin);
		const std::size_t columns = std::max(drawn, begin + text_width(chart.end) + 1) - begin;
		text += "  " + chart.begin + padded(chart.end, columns, true) + "\n";
	}
	if (per_column > 1)
		text += fmt::format("each column is the largest of {} values\n", per_column);
	if (has_unknown)
		text += "?: no value, or one that is unknown\n";
	if (chart.left_out)
		text += fmt::format("... and {} more; --top N draws N\n", chart.left_out);
	return text;
}

} // namespace

std::string to_text(const Chart &chart, const Look &look)
{
	const std::string title = report::cut_text(chart.title, std::max(look.width, min_width)) + "\n";
	return title + (chart.kind == Chart::Kind::series ? series_text(chart, look) : bars_text(chart, look));
}

std::string to_text(const std::vector<Chart> &charts, const Look &look)
{
	std::string text;
	for (const Chart &chart : charts)
		text += (text.empty() ? "" : "\n") + to_text(chart, look);
	return text;
}

} // namespace monitor::plot
