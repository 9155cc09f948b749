// SPDX-License-Identifier: MIT
// Series-parallel graphs and steps between barriers: their distributions against closed forms.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "reading/model/model_text.h"
#include "reading/simulation/series_parallel.h"

namespace test_series_parallel {

using namespace monitor::simulation;
using Catch::Matchers::Contains;

namespace {

GridDistribution of(const std::string &text, const Change &change = {})
{
	return elapsed_distribution(monitor::model::parse_model("# monitor model 1\n" + text, "model"), change);
}

std::string refusal(const std::string &text)
{
	try {
		of(text);
	} catch (const monitor::Error &error) {
		return error.what();
	}
	return "";
}

} // namespace

TEST_CASE("grid distribution: series and parallel of simple ones")
{
	const GridDistribution flat = GridDistribution::uniform(0, 12);
	CHECK(flat.mean() == Approx(6));
	CHECK(flat.deviation() == Approx(12 / std::sqrt(12)).epsilon(1e-3));
	CHECK(flat.quantile(0.25) == Approx(3).epsilon(1e-2));
	CHECK(flat.then(flat).mean() == Approx(12));
	CHECK(flat.repeated(3).mean() == Approx(18));
	CHECK(flat.repeated(100).deviation() == Approx(10 * flat.deviation()).epsilon(1e-3));
	CHECK(flat.side_by_side(3).mean() == Approx(9).epsilon(1e-3));
	CHECK(flat.beside(flat).mean() == Approx(8).epsilon(1e-3));
	CHECK(flat.scaled(0.5).mean() == Approx(3));
	const GridDistribution late = GridDistribution::point(20);
	CHECK(flat.beside(late).mean() == 20);
	CHECK(flat.beside(GridDistribution::point(6)).mean() == Approx(7.5).epsilon(1e-3));
	CHECK(flat.or_else(0.25, late).mean() == Approx(16.5).epsilon(1e-3));
	CHECK(late.then(late).mean() == 40);
	CHECK(late.repeated(0).mean() == 0);
	const std::vector<double> sample = {1, 2, 2, 7};
	CHECK(GridDistribution::values(sample).mean() == Approx(3));
	CHECK(GridDistribution::values(sample).side_by_side(2).mean() ==
	      Approx((1 + 8 * 2 + 7 * 7) / 16.0).epsilon(1e-2));
}

TEST_CASE("series-parallel: a sum of exponential times is an Erlang distribution")
{
	const GridDistribution sum = of("distribution e exponential 1ms\nrole a: loop 4 { cpu x of e }");
	CHECK(sum.mean() == Approx(4e6).epsilon(1e-4));
	CHECK(sum.deviation() == Approx(2e6).epsilon(1e-3));
	CHECK(sum.quantile(0.95) == Approx(7.7537e6).epsilon(2e-3)); // chi-squared of 8 degrees / 2
}

TEST_CASE("series-parallel: a graph written by hand, against its closed form")
{
	const GridDistribution graph =
	    of("cpus 2\ndistribution u uniform 0ns 4ms\ndistribution x exponential 1ms\n"
	       "role main: { cpu a 1ms; fork { cpu b of u | cpu c 1ms; cpu d of x }; cpu e 500us }");
	// The fork is the integral of 1 - F: F is 0 up to 1, then t/4 (1 - e^(1-t)), from 4 on 1 - e^(1-t).
	const double e3 = std::exp(-3);
	const double within = (16 - 1) / 8.0 - (2 - 5 * e3) / 4;
	CHECK(graph.mean() / 1e6 == Approx(1.5 + 4 - within + e3).epsilon(1e-3));
}

TEST_CASE("series-parallel: steps of strips between barriers")
{
	const std::string grid = "cpus 32\ndistribution e exponential 1ms\n"
				 "role strips 32: loop 50 { cpu relax of e; barrier b }";
	double harmonic = 0;
	for (int n = 1; n <= 32; ++n)
		harmonic += 1.0 / n;
	CHECK(of(grid).mean() / 1e6 == Approx(50 * harmonic).epsilon(1e-3));
	Change half;
	half.faster["relax"] = 2;
	CHECK(of(grid, half).mean() / 1e6 == Approx(25 * harmonic).epsilon(1e-3));
	// Another role in between, and what is after the last barrier belongs to the next step
	CHECK(of("cpus 3\nrole first: loop 10 { cpu relax 40us; barrier b; cpu norm 5us; barrier b; cpu 7us }\n"
		 "role others 2: loop 10 { cpu relax 30us; barrier b; barrier b; cpu 9us }")
		  .mean() == Approx(40e3 + 9 * 47e3 + 10 * 5e3 + 9e3));
}

TEST_CASE("series-parallel: threads share iterations as in a replay")
{
	for (const std::string role : {"split 2", "2 in order", "2"}) {
		const bool is_shared = role != "2";
		for (const char *const body : {"{ cpu x 10us }", "{ cpu x 10us; barrier b }"}) {
			const std::string text = "cpus 2\nrole a " + role + ": loop 6 " + body;
			CHECK(of(text).mean() == (is_shared ? 30e3 : 60e3));
			CHECK(
			    replay(monitor::model::parse_model("# monitor model 1\n" + text, "model"), nullptr, {}, {})
				.elapsed == (is_shared ? 30000 : 60000));
		}
	}
	CHECK_THAT(refusal("cpus 2\nrole a split 2: loop 5 { cpu x 10us; barrier b }"),
		   Contains("the threads of a do not meet at their barriers equally often"));
	CHECK(of("cpus 2\nrole a split 2: loop 5 { cpu x 10us }").mean() == 30e3);
}

TEST_CASE("series-parallel: what is something else is refused")
{
	CHECK_THAT(refusal("role a: { lock l { cpu x 1us } }"), Contains("`lock` is neither"));
	CHECK_THAT(refusal("role a pool 1: { take; cpu x 1us }"), Contains("a is a pool"));
	CHECK_THAT(refusal("cpus 2\nrole a: { fork { cpu 1us | cpu 1us | cpu 1us } }"),
		   Contains("3 threads are side by side on 2 CPUs"));
	CHECK_THAT(refusal("cpus 2\nrole a: { barrier a; cpu 1us }\nrole b: { barrier b; cpu 1us }"),
		   Contains("do not meet at the same barriers"));
}

} // namespace test_series_parallel
