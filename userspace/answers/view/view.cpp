// SPDX-License-Identifier: MIT
#include "view.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>
#include <zlib.h>

#include "answers/report/flame_graph.h"
#include "base/encoding.h"
#include "base/json.h"
#include "page_files.h"
#include "tile.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned written_mode_bins = 2048;
constexpr std::size_t written_threads = 40, written_groups = 10; // per kind
constexpr std::size_t max_compression = 8;                       // of slices: assumed

std::string text_of(const HttpRequest &request, const std::string &name)
{
	const auto found = request.query.find(name);
	return found == request.query.end() ? "" : found->second;
}

// `to` stays as it is if the request lacks the parameter.
template <class Number> void set_if_given(const HttpRequest &request, const std::string &name, auto &to)
{
	if (request.query.contains(name))
		to = number_parameter<Number>(request, name);
}

CasesWanted cases_of(const HttpRequest &request)
{
	const std::map<std::string, CasesWanted::Of> kinds = {
	    {"calls", CasesWanted::Of::calls}, {"sleeps", CasesWanted::Of::sleeps}, {"waits", CasesWanted::Of::waits}};
	const auto of = kinds.find(text_of(request, "of"));
	if (of == kinds.end())
		throw Error("there are cases of calls, sleeps and waits");
	CasesWanted wanted;
	wanted.of = of->second;
	set_if_given<std::int32_t>(request, "pid", wanted.pid);
	set_if_given<std::int32_t>(request, "tid", wanted.tid);
	set_if_given<std::uint64_t>(request, "min", wanted.min_ticks);
	set_if_given<std::uint64_t>(request, "max", wanted.max_ticks);
	if (request.query.contains("call"))
		wanted.call = text_of(request, "call");
	return wanted;
}

std::string deflated(std::string_view bytes)
{
	uLongf size = ::compressBound(static_cast<uLong>(bytes.size()));
	std::string made(size, '\0');
	if (::compress2(reinterpret_cast<Bytef *>(made.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()),
			static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION) != Z_OK)
		throw Error("the page's data cannot be compressed: there is no memory left");
	made.resize(size);
	return made;
}

void replace_all(std::string &text, const std::string &from, const std::string &to)
{
	for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
		text.replace(at, from.size(), to);
}

// Modules in the order of their imports, each with the ones before it embedded as data.
std::string with_modules(std::string html)
{
	std::map<std::string, std::string> urls;
	for (const PageFile &file : page_files) {
		if (!file.name.ends_with(".js"))
			continue;
		std::string text(file.text);
		for (const auto &[name, url] : urls)
			replace_all(text, "'./" + name + "'", "'" + url + "'");
		urls[std::string(file.name)] = "data:text/javascript;base64," + to_base64(text);
	}
	replace_all(html, "src=\"main.js\"", "src=\"" + urls.at("main.js") + "\"");
	return html;
}

// The rows of the threads with the most CPU time.
std::vector<std::size_t> longest_rows(const Picture &picture)
{
	const Rows &rows = picture.rows();
	const auto ran = [&](std::size_t row) {
		std::uint64_t ticks = 0;
		for (const std::uint32_t index : rows.threads(row))
			ticks += picture.timeline().threads()[index].ran();
		return ticks;
	};
	std::vector<std::size_t> longest(rows.size());
	std::iota(longest.begin(), longest.end(), std::size_t{0});
	std::ranges::sort(longest, std::ranges::greater(), ran);
	longest.resize(std::min(longest.size(), written_threads));
	return longest;
}

std::vector<std::string> lanes_of_page(const Picture &picture, const std::vector<std::size_t> &rows)
{
	std::vector<std::string> lanes;
	for (std::size_t cpu = 0; cpu < picture.timeline().cpus().size(); ++cpu)
		lanes.push_back(fmt::format("c{}", cpu));
	for (const std::size_t row : rows) {
		lanes.push_back(fmt::format("r{}", row));
		lanes.push_back(fmt::format("w{}", row));
	}
	for (std::size_t by = 0; by < Groups::names.size(); ++by)
		for (std::size_t i = 0;
		     i < std::min(written_groups, picture.groups().by(static_cast<Groups::By>(by)).size()); ++i)
			lanes.push_back(fmt::format("{}{}", "pmg"[by], i));
	for (std::size_t i = 0; i < std::min(written_threads, picture.activities().kinds().size()); ++i)
		lanes.push_back(fmt::format("a{}", i));
	return lanes;
}

// From the coarsest level on, as many levels as `max_bytes` allow. Returns the finest one.
unsigned add_slices(Json &slices, const Picture &picture, const std::vector<std::string> &lanes, std::size_t max_bytes)
{
	const Timeline &timeline = picture.timeline();
	const std::string names = fmt::format("{}", fmt::join(lanes, ","));
	unsigned first = levels;
	for (std::size_t bytes = 0; first > timeline.cpus_level(); --first) {
		const std::string tile =
		    slices_tile({timeline, &picture.groups(), nullptr, &picture.activities(), &picture.rows()},
				first - 1, 0, ~std::uint64_t(0), names, ~std::size_t(0));
		if (tile.size() > max_bytes * max_compression && first < levels)
			break;
		const std::string packed = to_base64(deflated(tile));
		if ((bytes += packed.size()) > max_bytes && first < levels)
			break;
		slices[std::to_string(first - 1)] = packed;
	}
	return first;
}

std::string_view page_text(const char *name)
{
	for (const PageFile &file : page_files)
		if (file.name == name)
			return file.text;
	return {};
}

std::string page_of(const Json &data)
{
	std::string html(page_text("index.html"));
	replace_all(html, "<link rel=\"stylesheet\" href=\"view.css\">",
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src data:; "
		    "style-src 'unsafe-inline'; img-src data:\">\n<style>\n" +
			std::string(page_text("view.css")) + "</style>");
	html = with_modules(std::move(html));
	// Base64, which no name in the trace can terminate early.
	replace_all(html, "<script type=\"module\"",
		    "<script type=\"text/plain\" id=\"embedded\">" + to_base64(deflated(json_dump(data))) +
			"</script>\n<script type=\"module\"");
	return html;
}

} // namespace

HttpResponse page_file(const std::string &path)
{
	for (const PageFile &file : page_files)
		if (path == fmt::format("/{}", file.name) || (path == "/" && file.name == "index.html"))
			return {200, std::string(file.type), std::string(file.text)};
	if (path == "/flame.css")
		return {200, "text/css; charset=utf-8", std::string(report::flame_style())};
	if (path == "/flame.js")
		return {200, "text/javascript; charset=utf-8", std::string(report::flame_script())};
	return {404, "text/plain; charset=utf-8", "there is no such page\n"};
}

HttpResponse modes_answer(const Timeline &timeline, const HttpRequest &request)
{
	return response_of("application/octet-stream", [&] {
		return modes_tile(timeline, number_parameter<std::uint64_t>(request, "from"),
				  number_parameter<std::uint64_t>(request, "to"),
				  number_parameter<unsigned>(request, "bins"));
	});
}

IsOver LatestRequests::next(const HttpRequest &request)
{
	const bool numbered = request.query.contains("request");
	const auto number = numbered ? number_parameter<std::uint64_t>(request, "request") : 0;
	const std::lock_guard guard(lock_);
	if (newest_.size() >= max_pages)
		newest_.clear();
	auto &newest = newest_[request.path + " " + text_of(request, "page")];
	if (!newest)
		newest = std::make_shared<std::atomic<std::uint64_t>>(0);
	const std::uint64_t mine = numbered ? number : *newest + 1;
	*newest = std::max(newest->load(), mine);
	return [this, newest, mine] { return is_over_ || *newest > mine; };
}

HttpResponse answer(const Picture &picture, LatestRequests &requests, const HttpRequest &request)
{
	const auto number = [&](const char *name) { return number_parameter<std::uint64_t>(request, name); };
	const auto small = [&](const char *name) { return number_parameter<unsigned>(request, name); };
	const auto json = [](const auto &make) {
		return response_of("application/json", [&] { return json_dump(make()); });
	};
	if (request.path == "/slices")
		return response_of("application/octet-stream", [&] {
			return picture.slices(small("level"), number("from"), number("to"), text_of(request, "lanes"),
					      requests.until_stop());
		});
	if (request.path == "/modes")
		return modes_answer(picture.timeline(), request);
	if (request.path == "/table")
		return json([&] {
			return picture.table(number("from"), number("to"), text_of(request, "by"),
					     requests.next(request));
		});
	if (request.path == "/cases")
		return json([&] {
			return picture.cases(number("from"), number("to"), cases_of(request), requests.next(request));
		});
	if (request.path == "/flame")
		return response_of("text/html; charset=utf-8", [&] {
			return picture.flame_page(number("from"), number("to"), requests.next(request));
		});
	if (request.path == "/lines")
		return json(
		    [&] { return picture.lines(number("from"), number("to"), small("bins"), requests.next(request)); });
	if (request.path == "/story")
		return json([&] {
			return picture.story(number("from"), number("to"), number("thread"), requests.next(request));
		});
	if (request.path == "/scenes")
		return json([&] {
			return picture.scenes(number("from"), number("to"), small("steps"), requests.next(request));
		});
	if (request.path == "/about")
		return response_of("application/json", [&] { return json_dump(picture.about()); });
	return page_file(request.path);
}

WrittenPage written_page(const Picture &picture, std::size_t max_bytes)
{
	const Timeline &timeline = picture.timeline();
	const std::vector<std::size_t> rows = longest_rows(picture);
	const std::vector<std::string> lanes = lanes_of_page(picture, rows);
	const auto mode_bins = static_cast<unsigned>(std::clamp<std::size_t>(
	    max_answer_bins / std::max<std::size_t>(timeline.cpus().size(), 1), 1, written_mode_bins));
	Json data = {{"about", picture.about()},
		     {"lanes", lanes},
		     {"mode_bins", mode_bins},
		     {"modes", to_base64(deflated(modes_tile(timeline, 0, timeline.ticks(), mode_bins)))},
		     {"slices", Json::object()},
		     {"tables", Json::object()}};
	for (const char *by : {"process", "thread", "command", "cgroup", "cpu", "calls", "sleeps"})
		try {
			data["tables"][by] = picture.table(0, timeline.ticks(), by);
		} catch (const Error &) { // not recorded
			data["tables"][by] = nullptr;
		}
	const unsigned first = add_slices(data["slices"], picture, lanes, max_bytes);
	WrittenPage page;
	if (first > 0)
		page.left_out =
		    fmt::format("what is shorter than {:.0f} us is summed up in this page: the server has more",
				static_cast<double>(timeline.base_ticks() << (2 * first)) /
				    data["about"]["frequency_hz"].get<double>() * 1e6);
	if (rows.size() < picture.rows().size())
		page.left_out += fmt::format("{}lanes of the {} of {} threads that ran longest",
					     page.left_out.empty() ? "" : "; ", rows.size(), picture.rows().size());
	data["about"]["first_level"] = first;
	data["about"]["left_out"] = page.left_out;
	page.html = page_of(data);
	return page;
}

} // namespace monitor::view
