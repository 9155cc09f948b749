// SPDX-License-Identifier: MIT
// `monitor view`: a picture as a page. The page's files are compiled in (page/, page_files.h).
//
//     served:  /          the page, /NAME its parts
//              /about     Picture::about()
//              /slices    ?level=&from=&to=&lanes=   tile.h
//              /modes     ?from=&to=&bins=           tile.h
//              /table     ?from=&to=&by=             Picture::table()
//              /story     ?from=&to=&tid=            Picture::story()
//     written: the same page with its data in it, as far as max_bytes allow
#pragma once

#include <cstddef>
#include <string>

#include "base/http.h"
#include "picture.h"

namespace monitor::view {

HttpResponse answer(const Picture &picture, const HttpRequest &request);
// Parts of that, for a picture that is not whole yet (loading.h).
HttpResponse page_file(const std::string &path);
HttpResponse modes_answer(const Timeline &timeline, const HttpRequest &request);

// `left_out`: what finds no room, in words; "": nothing.
struct WrittenPage {
	std::string html, left_out;
};
WrittenPage written_page(const Picture &picture, std::size_t max_bytes);

} // namespace monitor::view
