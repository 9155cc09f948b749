// SPDX-License-Identifier: MIT
#include "svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/text_width.h"
#include "scale.h"

namespace monitor::plot {
namespace {

constexpr double picture_width = 960, margin = 16, title_height = 34, axis_height = 40;
constexpr double bar_height = 22, panel_height = 96, panel_title = 18, letter_width = 7.2;
constexpr std::size_t max_label = 44, max_ticks = 8;

constexpr const char *style = R"svg(<style>
text { font: 12px sans-serif; fill: #222 }
.paper { fill: #fff } .title { font-size: 15px; font-weight: bold } .small { font-size: 11px; fill: #555 }
.bar { fill: #0072b2 } .line { fill: none; stroke: #0072b2; stroke-width: 1.5 } .dot { fill: #0072b2 }
.grid { stroke: #ddd } .axis { stroke: #777 } .hatch { stroke: #777; stroke-width: 2 } .unknown { fill: url(#unknown) }
@media (prefers-color-scheme: dark) {
text { fill: #eee } .paper { fill: #181818 } .small { fill: #aaa }
.bar, .dot { fill: #56b4e9 } .line { stroke: #56b4e9 } .grid { stroke: #3a3a3a } .axis, .hatch { stroke: #999 }
}
</style>
<defs><pattern id="unknown" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V6"/></pattern></defs>
)svg";

// Replaces U+FFFE and U+FFFF, which are valid UTF-8, but not allowed in XML.
std::string xml_text(const std::string &text)
{
	std::string out;
	const std::string shown = printable(text);
	for (std::size_t i = 0; i < shown.size(); ++i) {
		if (shown.compare(i, 2, "\xef\xbf") == 0 && i + 2 < shown.size() && (shown[i + 2] & 0x3e) == 0x3e) {
			out += "\xef\xbf\xbd";
			i += 2;
			continue;
		}
		switch (shown[i]) {
		case '&':
			out += "&amp;";
			break;
		case '<':
			out += "&lt;";
			break;
		case '>':
			out += "&gt;";
			break;
		case '"':
			out += "&quot;";
			break;
		default:
			out += shown[i];
		}
	}
	return out;
}

enum class Anchor { start, middle, end };

std::string text_at(double x, double y, const std::string &text, Anchor anchor, const char *css_classes = "")
{
	const char *const names[] = {"start", "middle", "end"};
	const std::string css_class = *css_classes ? fmt::format(" class=\"{}\"", css_classes) : "";
	return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{} xml:space=\"preserve\">{}</text>\n", x,
			   y, names[static_cast<int>(anchor)], css_class, xml_text(text));
}

std::string rectangle(double x, double y, double width, double height, const char *css_class)
{
	return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
			   css_class, x, y, width, height);
}

std::string line(double x1, double y1, double x2, double y2, const char *css_class)
{
	return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", css_class, x1, y1, x2, y2);
}

double width_in_pixels(const std::string &text)
{
	return static_cast<double>(text_width(text)) * letter_width;
}

// Grows downwards.
struct Picture {
	std::string body;
	double bottom = margin;

	void title(const Chart &chart)
	{
		body += text_at(margin, bottom + 16, report::cut_text(chart.title, 110), Anchor::start, "title");
		bottom += title_height;
	}
	void note(const std::string &text)
	{
		body += text_at(margin, bottom + 12, text, Anchor::start, "small");
		bottom += 18;
	}
};

struct Extent {
	double from, to;

	double at(double share) const { return from + share * (to - from); }
};

// The axis below the bars, with grid lines.
void draw_axis(Picture &picture, const Scale &scale, const Extent &across, double bottom, const Chart &chart)
{
	for (const double tick : ticks_of(scale, max_ticks)) {
		const double x = across.at(scale.share(tick));
		picture.body += line(x, picture.bottom, x, bottom, tick == 0 ? "axis" : "grid");
		picture.body += text_at(x, bottom + 14, tick_text(tick, chart.unit), Anchor::middle, "small");
	}
	picture.body += text_at(across.to, bottom + 29, chart.figure, Anchor::end, "small");
}

void draw_bar(Picture &picture, const Bar &bar, const Scale &scale, const Extent &across, double height)
{
	if (!bar.value)
		return;
	const double zero = across.at(scale.share(0)), end = across.at(scale.share(*bar.value));
	const double top = picture.bottom + (bar_height - height) / 2;
	picture.body += fmt::format("<g><title>{}: {}</title>", xml_text(bar.label), xml_text(bar.text));
	if (end != zero)
		picture.body += rectangle(std::min(zero, end), top, std::max(std::abs(end - zero), 1.0), height, "bar");
	if (bar.unknown > 0)
		picture.body +=
		    rectangle(end, top, across.at(scale.share(*bar.value + bar.unknown)) - end, height, "unknown");
	picture.body += "</g>\n";
}

void draw_bars(Picture &picture, const Chart &chart)
{
	double labels = 24, values = 0; // widths in pixels
	for (const Bar &bar : chart.bars) {
		labels = std::max(labels, width_in_pixels(report::cut_text(bar.label, max_label)));
		values = std::max(values, width_in_pixels(report::cut_text(bar.text, max_label)));
	}
	const Extent across{margin + labels + values + 20, picture_width - margin};
	const Scale scale = scale_of(chart.bars);
	const double height = chart.kind == Chart::Kind::histogram ? bar_height - 1 : bar_height - 6;
	if (chart.bars.empty())
		return picture.note("no rows");
	draw_axis(picture, scale, across, picture.bottom + bar_height * static_cast<double>(chart.bars.size()), chart);
	bool has_unknown = false;
	for (const Bar &bar : chart.bars) {
		const double middle = picture.bottom + bar_height / 2 + 4;
		picture.body += text_at(margin + labels, middle, report::cut_text(bar.label, max_label), Anchor::end);
		picture.body +=
		    text_at(across.from - 8, middle, report::cut_text(bar.text, max_label), Anchor::end, "small");
		draw_bar(picture, bar, scale, across, height);
		has_unknown = has_unknown || bar.unknown > 0;
		picture.bottom += bar_height;
	}
	picture.bottom += axis_height;
	if (has_unknown)
		picture.note("hatched: unknown");
}

// Adjacent points are joined; a single point is a dot.
void draw_points(Picture &picture, const Series &series, const std::vector<double> &times, const Scale &scale,
		 const Extent &across)
{
	const double first = times.front(), width = std::max(times.back() - first, 1.0);
	const auto x_of = [&](std::size_t i) { return across.at((times[i] - first) / width); };
	std::string path;
	for (std::size_t i = 0; i < series.values.size(); ++i) {
		if (!series.values[i]) {
			const double next = x_of(std::min(i + 1, times.size() - 1));
			picture.body +=
			    rectangle(x_of(i), picture.bottom, std::max(next - x_of(i), 2.0), panel_height, "unknown");
			continue;
		}
		const double y = picture.bottom + panel_height * (1 - scale.share(*series.values[i]));
		const bool has_previous = i > 0 && series.values[i - 1];
		const bool is_alone = !has_previous && (i + 1 == series.values.size() || !series.values[i + 1]);
		if (is_alone)
			picture.body +=
			    fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>\n", x_of(i), y);
		else
			path += fmt::format("{}{:.1f} {:.1f}", has_previous ? "L" : "M", x_of(i), y);
	}
	if (!path.empty())
		picture.body += fmt::format("<path class=\"line\" d=\"{}\"/>\n", path);
}

void draw_series(Picture &picture, const Chart &chart)
{
	const Extent across{margin + 80, picture_width - margin};
	Scale common{0, 0};
	bool has_unknown = false;
	for (const Series &series : chart.series) {
		common = joined(common, scale_of(series));
		has_unknown = has_unknown ||
			      !std::ranges::all_of(series.values, [](const auto &value) { return value.has_value(); });
	}
	for (const Series &series : chart.series) {
		const Scale scale = chart.has_one_scale ? common : scale_of(series);
		picture.body +=
		    text_at(across.from, picture.bottom + 12, report::cut_text(series.label, 100), Anchor::start);
		picture.bottom += panel_title;
		for (const double tick : ticks_of(scale, 4)) {
			const double y = picture.bottom + panel_height * (1 - scale.share(tick));
			picture.body += line(across.from, y, across.to, y, tick == 0 ? "axis" : "grid");
			picture.body +=
			    text_at(across.from - 6, y + 4, tick_text(tick, series.unit), Anchor::end, "small");
		}
		if (!chart.times.empty())
			draw_points(picture, series, chart.times, scale, across);
		picture.bottom += panel_height + 8;
	}
	if (!chart.times.empty()) {
		picture.body += text_at(across.from, picture.bottom + 10, chart.begin, Anchor::start, "small");
		picture.body += text_at(across.to, picture.bottom + 10, chart.end, Anchor::end, "small");
		picture.bottom += 20;
	}
	if (has_unknown)
		picture.note("hatched: no value, or one that is unknown");
	if (chart.left_out)
		picture.note(fmt::format("{} more series are left out", chart.left_out));
}

// Breaks lines that are too wide at blanks.
void draw_notes(Picture &picture, const std::string &notes)
{
	constexpr std::size_t max_bytes = 150;
	for (std::size_t at = 0; at < notes.size();) {
		const std::size_t line_end = std::min(notes.find('\n', at), notes.size());
		std::size_t end = line_end;
		if (end - at > max_bytes) {
			const std::size_t blank = notes.rfind(' ', at + max_bytes);
			end =
			    blank == std::string::npos || blank <= at ? std::min(notes.find(' ', at), line_end) : blank;
		}
		if (end > at)
			picture.note(notes.substr(at, end - at));
		at = end + 1;
	}
	if (!notes.empty())
		picture.bottom += margin;
}

} // namespace

std::string to_svg(const std::vector<Chart> &charts, const std::string &notes)
{
	Picture picture;
	for (const Chart &chart : charts) {
		picture.title(chart);
		if (chart.kind == Chart::Kind::series)
			draw_series(picture, chart);
		else
			draw_bars(picture, chart);
		picture.bottom += margin;
	}
	draw_notes(picture, notes);
	return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
			   "viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" "
			   "style=\"color-scheme: light dark\">\n{}{}{}</svg>\n",
			   picture_width, picture.bottom, picture_width, picture.bottom, style,
			   rectangle(0, 0, picture_width, picture.bottom, "paper"), picture.body);
}

} // namespace monitor::plot
