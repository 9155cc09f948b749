// SPDX-License-Identifier: MIT
#include "scenes.h"

#include <chrono>
#include <utility>

#include "answers/play/picture.h"
#include "base/error.h"
#include "scene_json.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t events_at_a_time = 1 << 17;
constexpr std::chrono::milliseconds lock_retry_interval(20);

void expect_wanted(const IsOver &is_over)
{
	if (is_over && is_over())
		throw Error("this was asked for again, or is not wanted any more");
}

} // namespace

Scenes::Scenes(Open open, std::optional<play::Layout> layout) : open_(std::move(open)), layout_(std::move(layout)) {}

Json Scenes::answer(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned steps, const IsOver &is_over)
{
	if (steps > max_steps)
		throw Error("there are at most {} scenes in one answer", max_steps);
	if (steps == 0)
		return Json::array();
	std::unique_lock lock(lock_, std::defer_lock);
	while (!lock.try_lock_for(lock_retry_interval))
		expect_wanted(is_over);
	if (!playing_) {
		playing_.emplace(open_());
		known_from_ = playing_->player.find_known() - playing_->player.begin();
	}
	const play::Player &player = playing_->player;
	const std::uint64_t ticks = player.end() - player.begin();
	if (from_ticks > std::min(to_ticks, ticks))
		throw Error("this picture has no such part");
	play::View view;
	view.clock = &player.clock();
	view.times = trace::TimeText(playing_->of.trace, false);
	view.layout = layout_ ? &*layout_ : nullptr;
	const std::uint64_t step = std::max<std::uint64_t>(1, (to_ticks - from_ticks) / steps);
	Json scenes = Json::array();
	for (std::uint64_t at = from_ticks; at <= ticks; at += step) {
		go_to(player.begin() + at, step, is_over);
		scenes.push_back(scene_json(player.scene(), view, player.begin()));
		if (at < known_from_)
			scenes.back()["known_from"] = known_from_;
		if (scenes.size() == steps || step > ticks - at)
			break;
	}
	return scenes;
}

void Scenes::go_to(std::uint64_t time, std::uint64_t step, const IsOver &is_over)
{
	play::Player &player = playing_->player;
	try {
		player.go_to(time, step, 1);
		while (!player.work(events_at_a_time))
			if (is_over && is_over()) {
				player.cancel();
				break;
			}
	} catch (...) { // the fold may have processed an event only partly
		playing_.reset();
		throw;
	}
	expect_wanted(is_over);
}

} // namespace monitor::view
