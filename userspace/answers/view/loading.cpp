// SPDX-License-Identifier: MIT
#include "loading.h"

#include "base/json.h"

namespace monitor::view {
namespace {

class Stopped : public std::exception {};

} // namespace

Loading::Loading(const std::vector<std::string> &directories, trace::Trace trace, bool use_cache,
		 std::optional<play::Layout> layout, bool has_second)
    : frequency_hz_(static_cast<double>(trace.description().clock.frequency_hz)), has_second_(has_second),
      reader_([this, directories, use_cache, read = std::move(trace),
	       layout = std::move(layout)](const std::stop_token &stop) mutable {
	      try {
		      auto made = std::make_shared<const Picture>(
			  directories, std::move(read),
			  [&](const Timeline &so_far, double fraction) {
				  if (stop.stop_requested())
					  throw Stopped();
				  set_progress(so_far, fraction);
			  },
			  CachePolicy{use_cache}, std::move(layout));
		      const std::lock_guard guard(lock_);
		      picture_ = std::move(made);
	      } catch (const Stopped &) { // nobody is waiting any more
	      } catch (const std::exception &error) {
		      const std::lock_guard guard(lock_);
		      failed_ = error.what();
	      }
      })
{
}

void Loading::set_progress(const Timeline &so_far, double fraction)
{
	auto modes = std::make_shared<const Timeline>(so_far.modes_only());
	const std::lock_guard guard(lock_);
	so_far_ = std::move(modes);
	fraction_ = fraction;
}

std::string Loading::failed() const
{
	const std::lock_guard guard(lock_);
	return failed_;
}

std::shared_ptr<const Picture> Loading::picture() const
{
	const std::lock_guard guard(lock_);
	return picture_;
}

HttpResponse Loading::answer(const HttpRequest &request)
{
	const std::shared_ptr<const Picture> picture = this->picture();
	if (picture && has_second_ && request.path == "/about") {
		nlohmann::ordered_json about = picture->about();
		about["has_second"] = true;
		return {200, "application/json", json_dump(about)};
	}
	if (picture)
		return view::answer(*picture, requests_, request);
	HttpResponse page = page_file(request.path);
	return page.status == 200 ? page : answer_early(request);
}

HttpResponse Loading::answer_early(const HttpRequest &request) const
{
	std::shared_ptr<const Timeline> so_far;
	double fraction = 0;
	{
		const std::lock_guard guard(lock_);
		if (!failed_.empty())
			return {500, "text/plain; charset=utf-8", failed_ + "\n"};
		so_far = so_far_;
		fraction = fraction_;
	}
	if (request.path == "/about") {
		nlohmann::ordered_json cpus = nlohmann::ordered_json::array();
		for (std::size_t i = 0; so_far && i < so_far->cpus().size(); ++i)
			cpus.push_back({{"cpu", so_far->cpus()[i].number}});
		const nlohmann::ordered_json about = {{"reading", fraction},
						      {"frequency_hz", frequency_hz_},
						      {"ticks", so_far ? so_far->ticks() : 1},
						      {"modes", mode_names()},
						      {"cpus", std::move(cpus)}};
		return {200, "application/json", json_dump(about)};
	}
	if (request.path == "/modes" && so_far)
		return modes_answer(*so_far, request);
	return {503, "text/plain; charset=utf-8", "the trace is still being read\n"};
}

} // namespace monitor::view
