// SPDX-License-Identifier: MIT
#include "layout_scene.h"

#include <algorithm>

#include <fmt/format.h>

namespace monitor::play {
namespace {

using analyze::State;
using Threads = std::vector<const SceneThread *>;

std::vector<Threads> threads_by_box(const Scene &scene, const Layout &layout)
{
	std::vector<Threads> threads(layout.boxes.size());
	for (const SceneThread &thread : scene.threads)
		if (thread.state != State::dead)
			if (const auto box = layout.box_of(thread.name, thread.process))
				threads[*box].push_back(&thread);
	return threads;
}

std::size_t count_of(const Threads &threads, State state)
{
	return static_cast<std::size_t>(std::ranges::count(threads, state, &SceneThread::state));
}

// "1 run, 2 ready, 3 sleep"
std::string states_text(const Threads &threads)
{
	struct Named {
		State state;
		const char *word;
	};
	std::string text;
	for (const auto &[state, word] :
	     {Named{State::running, "run"}, Named{State::runnable, "ready"}, Named{State::throttled, "throttled"},
	      Named{State::blocked, "sleep"}, Named{State::unknown, "?"}})
		if (const std::size_t count = count_of(threads, state))
			text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
	return text;
}

void add(Traffic &traffic, const Scene &scene, std::uint64_t time)
{
	const std::uint64_t age = scene.time - std::min(scene.time, time);
	const double steps = static_cast<double>(age) / static_cast<double>(scene.step);
	if (steps >= past_steps)
		return;
	++traffic.count;
	if (steps < travel_steps)
		traffic.on_the_way.push_back(steps / travel_steps);
}

} // namespace

std::vector<BoxScene> boxes_of(const Scene &scene, const View &view)
{
	std::vector<BoxScene> boxes;
	for (const Threads &threads : threads_by_box(scene, *view.layout)) {
		const SceneThread *only = threads.size() == 1 ? threads.front() : nullptr;
		boxes.push_back({threads.empty() ? "no thread"
				 : only          ? fmt::format("{} {}", only->name, only->tid)
						 : fmt::format("{} threads", threads.size()),
				 only ? doing_text(*only, scene, view) : states_text(threads),
				 count_of(threads, State::running) > 0, count_of(threads, State::runnable) > 0, only});
	}
	return boxes;
}

Traffic traffic_of(const Arrow &arrow, const Scene &scene, const Layout &layout)
{
	const auto is_in = [&](const Party &party, std::size_t box) {
		return party.tid >= 0 && layout.box_of(party.thread, party.process) == box;
	};
	Traffic traffic;
	const auto add_those = [&](const auto &kept, const auto &is_on_arrow) {
		for (const auto &each : kept)
			if (is_on_arrow(each))
				add(traffic, scene, each.time);
		// Older ones, within the past steps, are not kept.
		traffic.is_at_least =
		    kept.size() >= Recent::max_kept &&
		    static_cast<double>(scene.time - kept.back().time) < static_cast<double>(scene.step) * past_steps;
	};
	if (arrow.event.empty())
		add_those(scene.wake_ups, [&](const WakeUp &wake_up) {
			return is_in(wake_up.waker, arrow.from) && is_in(wake_up.wakee, arrow.to);
		});
	else
		add_those(scene.posted, [&](const Posted &posted) {
			return posted.event == arrow.event && is_in(posted.by, arrow.from);
		});
	return traffic;
}

} // namespace monitor::play
