// SPDX-License-Identifier: MIT
#include "scale.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace monitor::plot {
namespace {

void include(Scale &scale, double value)
{
	if (!std::isfinite(value))
		return;
	scale.low = std::min(scale.low, value);
	scale.high = std::max(scale.high, value);
}

Scale non_empty(Scale scale)
{
	constexpr double shortest = 1e-300; // smaller ranges cannot be divided
	if (scale.high - scale.low < shortest)
		scale.high = 1;
	return scale;
}

} // namespace

Scale scale_of(const std::vector<Bar> &bars)
{
	Scale scale{0, 0};
	for (const Bar &bar : bars)
		if (bar.value) {
			include(scale, *bar.value);
			include(scale, *bar.value + bar.unknown);
		}
	return non_empty(scale);
}

Scale scale_of(const Series &series)
{
	Scale scale{0, 0};
	for (const auto &value : series.values)
		if (value)
			include(scale, *value);
	return non_empty(scale);
}

Scale joined(const Scale &a, const Scale &b)
{
	return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::vector<double> ticks_of(const Scale &scale, std::size_t max_ticks)
{
	const double half_width = scale.high / 2 - scale.low / 2;
	const auto fits = [&](double step) { return half_width / step * 2 < static_cast<double>(max_ticks); };
	double step = std::pow(10, std::floor(std::log10(half_width) + std::log10(2)) - 1);
	for (const double factor : {2.0, 2.5, 2.0}) { // 1, 2, 5, 10
		if (fits(step))
			break;
		step *= factor;
	}
	for (const double factor : {2.0, 2.5, 2.0}) {
		if (fits(step))
			break;
		step *= factor;
	}
	std::vector<double> ticks;
	const double last = std::floor(scale.high / step * (1 + 1e-9));
	for (double number = std::ceil(scale.low / step); number <= last; ++number)
		ticks.push_back(number * step);
	return ticks;
}

std::string tick_text(double value, report::Unit unit)
{
	using report::Unit;
	using Unit_ = std::pair<double, const char *>;
	constexpr Unit_ times[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
	constexpr Unit_ counts[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}};
	const bool is_time = unit == Unit::nanoseconds || unit == Unit::instant;
	if (unit == Unit::percent)
		return fmt::format("{:.3g} %", value);
	for (const auto &[size, name] : is_time ? times : counts)
		if (std::abs(value) >= size * (1 - 1e-9))
			return fmt::format("{:.4g}{}", value / size, name);
	return value == 0 ? "0" : fmt::format("{:.3g}{}", value, is_time ? " ns" : "");
}

} // namespace monitor::plot
