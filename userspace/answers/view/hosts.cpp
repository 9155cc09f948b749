// SPDX-License-Identifier: MIT
#include "hosts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

// The largest bound of the lines within this time; empty: one is unknown.
trace::ClockBoundNs bound_within(const trace::ClockMap &clock, std::uint64_t from_ns, std::uint64_t to_ns)
{
	const auto saturated = [](std::uint64_t ns) {
		return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX));
	};
	const std::int64_t from = saturated(from_ns), to = saturated(to_ns);
	const auto &nodes = clock.nodes();
	trace::ClockBoundNs bound = 0;
	for (std::size_t i = 0; i < clock.bounds().size(); ++i) {
		const bool ends_before = i < nodes.size() && nodes[i].ns < from;
		const bool begins_after = i > 0 && nodes[i - 1].ns > to;
		if (ends_before || begins_after)
			continue;
		const trace::ClockBoundNs &line = clock.bounds()[i];
		bound = bound && line ? trace::ClockBoundNs(std::max(*bound, *line)) : std::nullopt;
	}
	return bound;
}

// The picture's first tick at or after this time; its end if there is none.
std::uint64_t first_at(const trace::ClockMap &clock, const Timeline &timeline, std::uint64_t ns)
{
	std::uint64_t low = 0, high = timeline.ticks();
	while (low < high) {
		const std::uint64_t middle = low + (high - low) / 2;
		if (clock.map(timeline.begin() + middle) >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

} // namespace

Hosts::Hosts(std::vector<Recording> recordings, bool use_cache) : use_cache_(use_cache)
{
	for (Recording &recording : recordings) {
		if (recording.clock)
			begin_ns_ = std::min(begin_ns_, recording.clock->map(recording.trace.first_time()));
		hosts_.push_back({std::move(recording.name), std::move(recording.directory), std::move(recording.clock),
				  std::move(recording.trace), nullptr});
	}
}

Loading &Hosts::loading(std::size_t index)
{
	const std::lock_guard guard(lock_);
	Host &host = hosts_[index];
	if (!host.loading) {
		host.loading = std::make_unique<Loading>(std::vector{host.directory}, std::move(*host.trace),
							 use_cache_, std::nullopt);
		host.trace.reset();
	}
	return *host.loading;
}

void Hosts::stop()
{
	const std::lock_guard guard(lock_);
	for (const Host &host : hosts_)
		if (host.loading)
			host.loading->stop();
}

std::string Hosts::failed() const
{
	const std::lock_guard guard(lock_);
	for (const Host &host : hosts_)
		if (std::string failed = host.loading ? host.loading->failed() : ""; !failed.empty())
			return fmt::format("{}: {}", host.name, failed);
	return "";
}

std::vector<std::shared_ptr<const Picture>> Hosts::pictures() const
{
	const std::lock_guard guard(lock_);
	std::vector<std::shared_ptr<const Picture>> pictures;
	for (const Host &host : hosts_)
		if (host.loading)
			pictures.push_back(host.loading->picture());
	return pictures;
}

HttpResponse Hosts::answer(const HttpRequest &request)
{
	if (request.path == "/")
		return {
		    200, "text/html; charset=utf-8",
		    "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=0/\"><title>monitor view</title>\n"};
	std::size_t index = 0;
	const char *const end = request.path.data() + request.path.size();
	const auto [at, error] = std::from_chars(request.path.data() + 1, end, index);
	if (error != std::errc() || at == end || *at != '/' || index >= hosts_.size())
		return {404, "text/plain; charset=utf-8", "there is no such page\n"};
	return answer_of(index, {request.path.substr(static_cast<std::size_t>(at - request.path.data())), request.query,
				 request.accept});
}

HttpResponse Hosts::answer_of(std::size_t index, const HttpRequest &request)
{
	Loading &loading = this->loading(index);
	if (const auto picture = loading.picture()) {
		if (request.path == "/about")
			return about(index, *picture);
		if (request.path == "/common" || request.path == "/ticks")
			return response_of("application/json", [&] {
				const Host &host = hosts_[index];
				if (!host.clock)
					throw Error("how the clock of this host relates to the others is unknown");
				return request.path == "/common" ? common(*host.clock, *picture, request)
								 : ticks(*host.clock, *picture, request);
			});
	}
	return loading.answer(request);
}

HttpResponse Hosts::about(std::size_t index, const Picture &picture) const
{
	Json about = picture.about();
	about["host_number"] = index;
	about["has_common"] = hosts_[index].clock != nullptr;
	about["hosts"] = Json::array();
	for (const Host &host : hosts_)
		about["hosts"].push_back({{"name", host.name}, {"has_common", host.clock != nullptr}});
	return {200, "application/json", json_dump(about)};
}

std::string Hosts::common(const trace::ClockMap &clock, const Picture &picture, const HttpRequest &request) const
{
	const Timeline &timeline = picture.timeline();
	const auto time = [&](const char *name) {
		return clock.map(timeline.begin() +
				 std::min(number_parameter<std::uint64_t>(request, name), timeline.ticks()));
	};
	const std::uint64_t from = time("from"), to = time("to");
	return json_dump(Json{{"from_ns", from - begin_ns_},
			      {"to_ns", to - begin_ns_},
			      {"bound_ns", or_null(bound_within(clock, from, to))}});
}

std::string Hosts::ticks(const trace::ClockMap &clock, const Picture &picture, const HttpRequest &request) const
{
	const std::uint64_t from = begin_ns_ + number_parameter<std::uint64_t>(request, "from_ns"),
			    to = begin_ns_ + number_parameter<std::uint64_t>(request, "to_ns");
	return json_dump(Json{{"from", first_at(clock, picture.timeline(), from)},
			      {"to", first_at(clock, picture.timeline(), to)},
			      {"bound_ns", or_null(bound_within(clock, from, to))}});
}

std::shared_ptr<const trace::ClockMap> clock_of(const std::map<std::string, trace::PartClock> &clocks,
						const std::string &name, const trace::Trace &trace)
{
	const auto found = clocks.find(std::filesystem::path(name).begin()->string());
	if (found == clocks.end() || !found->second.has_lines)
		return nullptr;
	const char *why = "";
	return trace::ClockMap::make(found->second.nodes, found->second.bounds, trace.description().clock.frequency_hz,
				     why);
}

} // namespace monitor::view
