// SPDX-License-Identifier: MIT
// Metrics as text for Prometheus, in both of its formats, and which of them a request wants.
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "answers/metrics/exposition.h"

namespace test_exposition {

using namespace monitor::metrics;
using Type = Exposition::Type;

namespace {

std::string some_metrics(Format format)
{
	Exposition out(format);
	out.family("monitor", Type::info, "", "What counts.");
	out.info({{"version", "1"}});
	out.family("monitor_cpu_seconds", Type::counter, "seconds", "CPU time.");
	out.counter({{"mode", "user"}}, 1.5, 1700000000.25);
	out.counter({{"mode", "kernel"}}, 123456789012, 1700000000.25);
	out.family("monitor_cpus", Type::gauge, "", "CPUs.");
	out.gauge({}, 2);
	return std::move(out).text();
}

} // namespace

TEST_CASE("exposition: OpenMetrics, with units, times of creation and an end")
{
	CHECK(some_metrics(Format::openmetrics) == R"(# TYPE monitor info
# HELP monitor What counts.
monitor_info{version="1"} 1
# TYPE monitor_cpu_seconds counter
# UNIT monitor_cpu_seconds seconds
# HELP monitor_cpu_seconds CPU time.
monitor_cpu_seconds_total{mode="user"} 1.5
monitor_cpu_seconds_created{mode="user"} 1700000000.25
monitor_cpu_seconds_total{mode="kernel"} 123456789012
monitor_cpu_seconds_created{mode="kernel"} 1700000000.25
# TYPE monitor_cpus gauge
# HELP monitor_cpus CPUs.
monitor_cpus 2
# EOF
)");
}

TEST_CASE("exposition: the older format names families as their samples")
{
	CHECK(some_metrics(Format::text) == R"(# HELP monitor_info What counts.
# TYPE monitor_info gauge
monitor_info{version="1"} 1
# HELP monitor_cpu_seconds_total CPU time.
# TYPE monitor_cpu_seconds_total counter
monitor_cpu_seconds_total{mode="user"} 1.5
monitor_cpu_seconds_total{mode="kernel"} 123456789012
# HELP monitor_cpus CPUs.
# TYPE monitor_cpus gauge
monitor_cpus 2
)");
}

TEST_CASE("exposition: a histogram has all buckets, each with those before it")
{
	const monitor::trace::Clock clock{"tsc", 2'000'000'000};
	const LatencyScale scale(clock);
	Latency latency;
	for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{2'000}, std::uint64_t{2'001},
					  std::uint64_t{2'000'000}, std::uint64_t{200'000'000'000}})
		scale.add(latency, ticks);
	Exposition out(Format::openmetrics);
	out.family("wait_seconds", Type::histogram, "seconds", "Waits.");
	out.histogram({{"command", "a"}}, latency, 5);
	const std::string text = std::move(out).text();
	INFO(text);
	const auto has = [&](const std::string &line) { return text.find("\n" + line + "\n") != std::string::npos; };
	CHECK(has(R"(wait_seconds_bucket{command="a",le="1e-06"} 2)")); // 1 us is within
	CHECK(has(R"(wait_seconds_bucket{command="a",le="2e-06"} 3)"));
	CHECK(has(R"(wait_seconds_bucket{command="a",le="0.000512"} 3)"));
	CHECK(has(R"(wait_seconds_bucket{command="a",le="0.001024"} 4)"));
	CHECK(has(R"(wait_seconds_bucket{command="a",le="16.777216"} 4)"));
	CHECK(has(R"(wait_seconds_bucket{command="a",le="+Inf"} 5)"));
	CHECK(has(R"(wait_seconds_count{command="a"} 5)"));
	CHECK(has(R"(wait_seconds_created{command="a"} 5)"));
	const std::size_t sum = text.find("wait_seconds_sum{command=\"a\"} ");
	REQUIRE(sum != std::string::npos);
	CHECK(std::stod(text.substr(sum + 30)) == Approx(100.0010020005));
	std::size_t buckets = 0;
	for (std::size_t at = 0; (at = text.find("_bucket{", at)) != std::string::npos; ++at)
		++buckets;
	CHECK(buckets == latency_bounds + 1);
}

TEST_CASE("exposition: what is between quotes ends at its quote, and is printable")
{
	CHECK(label_value("nginx: worker") == "nginx: worker");
	CHECK(label_value("a\"b\\c") == "a\\\"b\\\\c");
	CHECK(label_value("a\nb") == "a\\\\nb");
	CHECK(label_value("\x1b[31m") == "\\\\x1b[31m");
	CHECK(label_value("\xff") == "\\\\xff");
	CHECK(label_value("\xc3\xa4") == "\xc3\xa4");
}

TEST_CASE("exposition: the format is the one that a request prefers")
{
	const auto prefers = [](const char *accept) { return preferred_format(accept) == Format::openmetrics; };
	CHECK(prefers("application/openmetrics-text"));
	CHECK(prefers("application/openmetrics-text; version=1.0.0"));
	CHECK(prefers("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		      "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
	CHECK(prefers("text/plain ; q=0.5 , application/openmetrics-text ; q=0.5"));
	CHECK_FALSE(prefers("text/plain;version=0.0.4;q=0.6,application/openmetrics-text;q=0.5"));
	CHECK_FALSE(prefers("application/openmetrics-text;version=2.0.0,text/plain;q=0.1"));
	CHECK_FALSE(prefers("application/openmetrics-text;q=0"));
	CHECK_FALSE(prefers("*/*"));
	CHECK_FALSE(prefers("text/html"));
	CHECK_FALSE(prefers(""));
	CHECK_FALSE(prefers(",;=,;q"));
	CHECK_FALSE(prefers("application/openmetrics-text;q="));
}

} // namespace test_exposition
