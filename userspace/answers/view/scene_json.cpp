// SPDX-License-Identifier: MIT
#include "scene_json.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "answers/play/layout_scene.h"
#include "timeline.h"

namespace monitor::view {
namespace {

using analyze::State;
using Json = nlohmann::ordered_json;
using Tids = std::vector<std::int32_t>;

// The first threads; adds those to `shown`.
Json first_of(const Tids &tids, std::size_t count, Tids &shown)
{
	const Tids first(tids.begin(), tids.begin() + static_cast<std::ptrdiff_t>(std::min(count, tids.size())));
	shown.insert(shown.end(), first.begin(), first.end());
	return first;
}

Json cpu_json(const play::SceneCpu &cpu, Tids &shown)
{
	constexpr const char *whats[] = {"unknown", "idle", "thread", "offline"};
	const bool is_thread = cpu.what == play::SceneCpu::What::thread;
	if (is_thread && cpu.tid != 0)
		shown.push_back(cpu.tid);
	return {{"cpu", cpu.number},
		{"what", whats[static_cast<std::size_t>(cpu.what)]},
		{"lost", cpu.is_in_loss},
		{"tid", is_thread ? Json(cpu.tid) : Json()},
		{"mode", is_thread ? Json(mode_names()[static_cast<std::size_t>(cpu.mode)]) : Json()},
		{"doing", is_thread ? play::mode_text(cpu) : ""},
		{"ready", first_of(cpu.ready, max_queued, shown)},
		{"waiting", cpu.ready.size()}};
}

// Sorted by their last change, newest first.
Tids sleeping_of(const play::Scene &scene, const play::Layout *layout)
{
	std::vector<const play::SceneThread *> threads;
	for (const play::SceneThread &thread : scene.threads)
		if ((thread.state == State::blocked || thread.state == State::throttled) &&
		    (!layout || layout->box_of(thread.name, thread.process)))
			threads.push_back(&thread);
	std::ranges::stable_sort(threads, std::ranges::greater(), &play::SceneThread::since);
	Tids tids;
	for (const play::SceneThread *thread : threads)
		tids.push_back(thread->tid);
	return tids;
}

Json thread_json(const play::SceneThread &thread, const play::Scene &scene, const play::View &view)
{
	constexpr std::pair<State, const char *> names[] = {{State::running, "running"},
							    {State::runnable, "ready"},
							    {State::throttled, "throttled"},
							    {State::blocked, "sleeping"}};
	const auto *const name = std::ranges::find(names, thread.state, &std::pair<State, const char *>::first);
	Json json = {{"tid", thread.tid},
		     {"name", thread.name},
		     {"state", name == std::end(names) ? "unknown" : name->second},
		     {"doing", play::doing_text(thread, scene, view)}};
	if (view.layout)
		if (const auto box = view.layout->box_of(thread.name, thread.process))
			json["box"] = *box;
	return json;
}

Json new_wake_ups(const play::Scene &scene)
{
	Json wake_ups = Json::array();
	for (const play::WakeUp &wake_up : scene.wake_ups) { // newest first
		if (scene.time - std::min(scene.time, wake_up.time) >= scene.step || wake_ups.size() == max_wake_ups)
			break;
		const bool is_thread = wake_up.waker.tid >= 0;
		wake_ups.push_back({{"waker", is_thread ? Json(wake_up.waker.tid) : Json()},
				    {"by", is_thread ? "" : wake_up.waker.thread},
				    {"wakee", wake_up.wakee.tid}});
	}
	return wake_ups;
}

} // namespace

Json layout_json(const play::Layout &layout)
{
	Json boxes = Json::array(), arrows = Json::array();
	for (const play::Box &box : layout.boxes)
		boxes.push_back({{"name", box.name}, {"row", box.row}, {"column", box.column}});
	for (const play::Arrow &arrow : layout.arrows)
		arrows.push_back({{"from", arrow.from}, {"to", arrow.to}});
	return {{"boxes", std::move(boxes)}, {"arrows", std::move(arrows)}, {"travel_steps", play::travel_steps}};
}

Json scene_json(const play::Scene &scene, const play::View &view, std::uint64_t begin)
{
	Tids shown;
	Json cpus = Json::array(), threads = Json::array(), messages = Json::array();
	for (const play::SceneCpu &cpu : scene.cpus)
		cpus.push_back(cpu_json(cpu, shown));
	Json unplaced = first_of(scene.unplaced, max_queued, shown);
	Json sleeping = first_of(sleeping_of(scene, view.layout), view.layout ? max_boxed : max_sleeping, shown);
	std::ranges::sort(shown);
	shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
	for (const std::int32_t tid : shown)
		if (const play::SceneThread *thread = scene.find(tid))
			threads.push_back(thread_json(*thread, scene, view));
	for (const play::Message &message : play::messages_of(scene, view, max_messages))
		messages.push_back({{"at", view.times(message.time)}, {"text", message.text}});
	Json json = {{"time", scene.time - std::min(scene.time, begin)},
		     {"cpus", std::move(cpus)},
		     {"threads", std::move(threads)},
		     {"unplaced", std::move(unplaced)},
		     {"unplaced_waiting", scene.unplaced.size()},
		     {"sleeping", std::move(sleeping)},
		     {"counts",
		      {{"sleeping", std::ranges::count(scene.threads, State::blocked, &play::SceneThread::state)},
		       {"unknown", std::ranges::count(scene.threads, State::unknown, &play::SceneThread::state)}}},
		     {"wakings_are_known", scene.wakings_are_known},
		     {"wake_ups", new_wake_ups(scene)},
		     {"messages", std::move(messages)}};
	if (!view.layout)
		return json;
	json["boxes"] = Json::array();
	json["arrows"] = Json::array();
	for (const play::BoxScene &box : play::boxes_of(scene, view))
		json["boxes"].push_back(
		    {{"who", box.who}, {"doing", box.doing}, {"runs", box.runs}, {"waits", box.waits}});
	for (const play::Arrow &arrow : view.layout->arrows) {
		play::Traffic traffic = play::traffic_of(arrow, scene, *view.layout);
		traffic.on_the_way.resize(std::min(traffic.on_the_way.size(), max_on_the_way)); // the newest
		for (double &at : traffic.on_the_way)
			at = std::round(at * 1000) / 1000;
		json["arrows"].push_back({{"count", traffic.text()}, {"on_the_way", traffic.on_the_way}});
	}
	return json;
}

} // namespace monitor::view
