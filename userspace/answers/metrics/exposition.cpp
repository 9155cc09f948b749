// SPDX-License-Identifier: MIT
#include "exposition.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/scanner.h"

namespace monitor::metrics {
namespace {

constexpr const char *type_names[] = {"counter", "gauge", "histogram", "info"};

// A part of what a client accepts: "type; q=0.5; version=1.0.0".
struct MediaRange {
	std::string type, version;
	double quality = 1;

	explicit MediaRange(std::string_view text) : type(trimmed(take_until(text, ';')))
	{
		while (!text.empty()) {
			std::string_view value = take_until(text, ';');
			const std::string name = trimmed(take_until(value, '='));
			if (name == "q")
				quality = std::strtod(std::string(value).c_str(), nullptr);
			else if (name == "version")
				version = trimmed(value);
		}
	}
};

bool is_version_of_openmetrics(std::string_view version)
{
	return version.empty() || version == "1.0.0" || version == "0.0.1";
}

} // namespace

const char *content_type(Format format)
{
	return format == Format::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
					     : "text/plain; version=0.0.4; charset=utf-8";
}

Format preferred_format(std::string_view accept)
{
	double openmetrics = 0, text = 0;
	while (!accept.empty()) {
		const MediaRange range(take_until(accept, ','));
		if (range.type == "application/openmetrics-text" && is_version_of_openmetrics(range.version))
			openmetrics = std::max(openmetrics, range.quality);
		else if (range.type == "text/plain" || range.type == "text/*" || range.type == "*/*")
			text = std::max(text, range.quality);
	}
	return openmetrics > 0 && openmetrics >= text ? Format::openmetrics : Format::text;
}

std::string label_value(std::string_view text)
{
	std::string value;
	for (const char character : printable(text)) {
		if (character == '\\' || character == '"')
			value += '\\';
		value += character;
	}
	return value;
}

void Exposition::family(std::string_view name, Type type, std::string_view unit, std::string_view help)
{
	name_ = name;
	const char *const type_name = type_names[static_cast<std::size_t>(type)];
	if (format_ == Format::openmetrics) {
		text_ += fmt::format("# TYPE {} {}\n", name, type_name);
		if (!unit.empty())
			text_ += fmt::format("# UNIT {} {}\n", name, unit);
		text_ += fmt::format("# HELP {} {}\n", name, help);
		return;
	}
	// In this format the family has the name of its samples.
	const char *const suffix = type == Type::counter ? "_total" : type == Type::info ? "_info" : "";
	text_ += fmt::format("# HELP {}{} {}\n# TYPE {}{} {}\n", name, suffix, help, name, suffix,
			     type == Type::info ? "gauge" : type_name);
}

void Exposition::sample(std::string_view suffix, const Labels &labels, double value, std::string_view bound)
{
	text_ += name_;
	text_ += suffix;
	char before = '{';
	for (const Label &label : labels)
		text_ += fmt::format("{}{}=\"{}\"", std::exchange(before, ','), label.name, label.value);
	if (!bound.empty())
		text_ += fmt::format("{}le=\"{}\"", std::exchange(before, ','), bound);
	text_ += fmt::format("{} {}\n", before == '{' ? "" : "}", value);
}

void Exposition::created(const Labels &labels, double created_s)
{
	if (format_ == Format::openmetrics)
		sample("_created", labels, created_s);
}

void Exposition::counter(const Labels &labels, double value, double created_s)
{
	sample("_total", labels, value);
	created(labels, created_s);
}

void Exposition::gauge(const Labels &labels, double value)
{
	sample("", labels, value);
}

void Exposition::histogram(const Labels &labels, const Latency &latency, double created_s)
{
	std::uint64_t count = 0;
	for (std::size_t i = 0; i < latency.counts.size(); ++i) {
		count += latency.counts[i];
		const bool is_last = i == latency_bounds;
		sample("_bucket", labels, static_cast<double>(count),
		       is_last ? "+Inf" : fmt::format("{}", latency_bound_seconds(i)));
	}
	sample("_sum", labels, latency.seconds);
	sample("_count", labels, static_cast<double>(count));
	created(labels, created_s);
}

void Exposition::info(const Labels &labels)
{
	sample("_info", labels, 1);
}

std::string Exposition::text() &&
{
	if (format_ == Format::openmetrics)
		text_ += "# EOF\n";
	return std::move(text_);
}

} // namespace monitor::metrics
