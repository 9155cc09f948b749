// SPDX-License-Identifier: MIT
// `monitor view`: a picture as a page. The page's files are compiled in (page/, page_files.h).
//
//     served:  /          the page, /NAME its parts
//              /about     Picture::about()
//              /slices    ?level=&from=&to=&lanes=   tile.h
//              /modes     ?from=&to=&bins=           tile.h
//              /table     ?from=&to=&by=&page=       Picture::table()
//              /cases     ?from=&to=&of=&page=, and as far as known &pid=&tid=&call=&min=&max=   Picture::cases()
//              /flame     ?from=&to=&page=           Picture::flame_page()
//              /lines     ?from=&to=&bins=&page=     Picture::lines()
//              /story     ?from=&to=&thread=&page=   Picture::story()
//              /scenes    ?from=&to=&steps=&page=    Picture::scenes()
//     written: the same page with its data in it, as far as max_bytes allow
#pragma once

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/http.h"
#include "picture.h"

namespace monitor::view {

// The latest request of each page: when it asks for another table or story, the previous answer is cancelled.
class LatestRequests {
public:
	// Whether the answer to this request is obsolete. A page's requests are ordered by their numbers (`request`),
	// since an older one may arrive later; without a number, by arrival. Throws Error.
	IsOver next(const HttpRequest &request);
	// For requests of which a page may have several in progress.
	IsOver until_stop() const
	{
		return [this] { return is_over_.load(); };
	}
	// Cancels all answers.
	void stop() { is_over_ = true; }

private:
	static constexpr std::size_t max_pages = 1000;

	std::mutex lock_;
	std::map<std::string, std::shared_ptr<std::atomic<std::uint64_t>>> newest_; // by path and page
	std::atomic<bool> is_over_{false};
};

// A numeric parameter of the request. Throws Error.
template <class Number> Number number_parameter(const HttpRequest &request, const std::string &name)
{
	const auto found = request.query.find(name);
	const std::string text = found == request.query.end() ? "" : found->second;
	Number value{};
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size())
		throw Error("{} has to be a number", name);
	return value;
}

// Returns the result of make(); errors in the request become an answer.
template <class Make> HttpResponse response_of(const char *type, const Make &make)
{
	try {
		return {200, type, make()};
	} catch (const std::exception &error) {
		return {400, "text/plain; charset=utf-8", fmt::format("{}\n", error.what())};
	}
}

HttpResponse answer(const Picture &picture, LatestRequests &requests, const HttpRequest &request);
// The page's files, for a picture that is not complete yet (loading.h).
HttpResponse page_file(const std::string &path);
HttpResponse modes_answer(const Timeline &timeline, const HttpRequest &request);

// `left_out`: what did not fit, as a message; "": nothing.
struct WrittenPage {
	std::string html, left_out;
};
WrittenPage written_page(const Picture &picture, std::size_t max_bytes);

} // namespace monitor::view
