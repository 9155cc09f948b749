// SPDX-License-Identifier: MIT
// Any bytes as an expression of record --filter, --count and --time: it is refused in one sentence, or the tables that
// the kernel decides with say of random events what the filter says. Input: EXPRESSION [NUL EXPRESSION]; the second one
// is counted.
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "../unit/random_filters.h"
#include "answers/matcher/expression_matcher.h"
#include "base/parse_error.h"

using namespace monitor;
using samples::RandomFilters;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

std::optional<filter::Filter> filter_of(const std::string &expression, const RandomFilters &random)
{
	try {
		return filter::Filter(expression, *random.description, RandomFilters::begin_time);
	} catch (const Error &) {
		return std::nullopt;
	}
}

std::unique_ptr<EventMatcher> matcher_of(const MatcherRequest &request, const RandomFilters &random)
{
	try {
		return matcher::make_matcher(request, *random.description, RandomFilters::begin_time, false);
	} catch (const Error &error) {
		require(*error.what());
		return nullptr;
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	static RandomFilters random(1);
	const std::string_view whole(reinterpret_cast<const char *>(data), size);
	const std::size_t end = whole.find('\0');
	MatcherRequest request;
	request.filter = std::string(whole.substr(0, end));
	request.keeps_tokens = true;
	if (end != std::string_view::npos)
		request.counts.push_back({"count", std::string(whole.substr(end + 1))});
	const auto matcher = matcher_of(request, random);
	const auto kept = filter_of(*request.filter, random);
	const auto counted = request.counts.empty() ? std::nullopt : filter_of(request.counts[0].expression, random);
	if (!matcher)
		return 0;
	require(kept && counted.has_value() == !request.counts.empty()); // what is wrong is refused
	for (int i = 0; i < 30; ++i) {
		RandomFilters::Sample sample = random.sample();
		const bool is_kept = kept->matches(*sample.event, sample.running);
		const bool counts = counted && counted->matches(*sample.event, sample.running);
		__u64 totals[EDC_MATCH_COUNTS] = {};
		require(matcher->judge(sample.id, sample.value, totals) == is_kept);
		require(totals[0] == counts);
	}
	return 0;
}
