// SPDX-License-Identifier: MIT
#include "compared.h"

#include <fmt/format.h>

#include "answers/diff/recordings.h"
#include "base/error.h"

namespace monitor::view {
namespace {

constexpr std::string_view second = "/second/";
constexpr std::size_t max_rows = 500; // of each ranking

// The part between two times in ticks; without bounds if it is all of the time.
diff::Part part_of(const std::string &directory, const Picture &picture, std::uint64_t from, std::uint64_t to)
{
	const auto hz = picture.about().at("frequency_hz").get<double>();
	const auto begin_ns = picture.about().at("begin_ns").get<double>();
	const auto time = [&](std::uint64_t ticks) {
		return fmt::format("{:.9f}", (begin_ns + static_cast<double>(ticks) / hz * 1e9) / 1e9);
	};
	if (from >= std::min(to, picture.timeline().ticks()))
		throw Error("this picture has no such part");
	diff::Part part{directory, "", ""};
	if (from > 0)
		part.from = time(from);
	if (to < picture.timeline().ticks())
		part.to = time(to);
	return part;
}

} // namespace

Compared::Compared(Side before, Side after, bool use_cache, std::optional<play::Layout> layout)
    : directories_{before.directory, after.directory},
      before_({before.directory}, std::move(before.trace), use_cache, std::move(layout), true),
      after_({after.directory}, std::move(after.trace), use_cache, {})
{
}

void Compared::stop()
{
	requests_.stop();
	before_.stop();
	after_.stop();
}

std::string Compared::failed() const
{
	const std::string of_before = before_.failed();
	return of_before.empty() ? after_.failed() : of_before;
}

std::array<std::shared_ptr<const Picture>, 2> Compared::pictures() const
{
	return {before_.picture(), after_.picture()};
}

HttpResponse Compared::answer(const HttpRequest &request)
{
	if (request.path.starts_with(second))
		return after_.answer({request.path.substr(second.size() - 1), request.query, request.accept});
	return request.path == "/diff" ? diff(request) : before_.answer(request);
}

HttpResponse Compared::diff(const HttpRequest &request)
{
	const auto [before, after] = pictures();
	if (!before || !after)
		return {503, "text/plain; charset=utf-8", "the traces are still being read\n"};
	return response_of("application/json", [&, before = before, after = after] {
		const auto number = [&](const char *name) { return number_parameter<std::uint64_t>(request, name); };
		const IsOver is_over = requests_.next(request);
		diff::ReadingOptions options;
		options.with_stacks = false; // the page has flame graphs
		options.progress = [&](const diff::Part &, std::size_t, double) {
			if (is_over())
				throw Error("this was asked for again, or is not wanted any more");
		};
		const diff::Printed compared = diff::compare_recordings(
		    {part_of(directories_[0], *before, number("from"), number("to"))},
		    {part_of(directories_[1], *after, number("second_from"), number("second_to"))}, options);
		return diff::comparison_json(compared, max_rows);
	});
}

} // namespace monitor::view
