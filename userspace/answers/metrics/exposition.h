// SPDX-License-Identifier: MIT
// Writes metrics as text for Prometheus: OpenMetrics 1.0, or the older text format 0.0.4.
// Without a library, as it is about 100 lines, and prometheus-cpp 1.0 writes only the older format, without _created,
// UNIT and EOF, and has counters of its own, into which every figure would have to be copied. The caller's order is
// kept: a family, then its series, as both formats require.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "latency.h"

namespace monitor::metrics {

enum class Format { openmetrics, text };

// For the header Content-Type.
const char *content_type(Format format);
// The format that a request's Accept header prefers; OpenMetrics only if named.
Format preferred_format(std::string_view accept);

struct Label {
	std::string_view name, value;
};
using Labels = std::vector<Label>;

// An untrusted text as a label's value: non-printable characters are escaped as in all other answers.
std::string label_value(std::string_view text);

class Exposition {
public:
	enum class Type { counter, gauge, histogram, info };

	explicit Exposition(Format format) : format_(format) {}

	// `name`: without _total and _info. `unit`: "seconds", with which it ends, or "". `help`: one line.
	void family(std::string_view name, Type type, std::string_view unit, std::string_view help);
	// A series of the current family; `created_s`: when it started to count, since the epoch.
	void counter(const Labels &labels, double value, double created_s);
	void gauge(const Labels &labels, double value);
	void histogram(const Labels &labels, const Latency &latency, double created_s);
	void info(const Labels &labels);

	// The complete text, with its end.
	std::string text() &&;

private:
	void sample(std::string_view suffix, const Labels &labels, double value, std::string_view bound = {});
	void created(const Labels &labels, double created_s);

	const Format format_;
	std::string name_, text_;
};

} // namespace monitor::metrics
