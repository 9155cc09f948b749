// SPDX-License-Identifier: MIT
#include "speedscope.h"

#include "base/json.h"

namespace monitor::exporting {
namespace {

// Frames of all profiles share one numbering.
nlohmann::ordered_json profile_json(const report::Profile &profile, std::size_t first_frame)
{
	auto samples = nlohmann::ordered_json::array(), weights = nlohmann::ordered_json::array();
	for (const report::Profile::Stack &stack : profile.stacks) {
		auto frames = nlohmann::ordered_json::array();
		for (const std::uint32_t frame : stack.frames)
			frames.push_back(first_frame + frame);
		samples.push_back(std::move(frames));
		weights.push_back(stack.value);
	}
	return {{"type", "sampled"},
		{"name", profile.name},
		{"unit", profile.is_time ? "nanoseconds" : "none"},
		{"startValue", 0},
		{"endValue", profile.total()},
		{"samples", std::move(samples)},
		{"weights", std::move(weights)}};
}

nlohmann::ordered_json frame_json(const symbols::FrameName &frame)
{
	nlohmann::ordered_json json = {{"name", frame.text()}};
	if (!frame.module.empty())
		json["file"] = frame.module;
	return json;
}

} // namespace

void write_speedscope(const std::vector<report::Profile> &profiles, const ProfileOrigin &origin, Output &output)
{
	auto frames = nlohmann::ordered_json::array(), all = nlohmann::ordered_json::array();
	for (const report::Profile &profile : profiles) {
		all.push_back(profile_json(profile, frames.size()));
		for (const symbols::FrameName &frame : profile.frames)
			frames.push_back(frame_json(frame));
	}
	const nlohmann::ordered_json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
					     {"name", origin.title},
					     {"exporter", "monitor"},
					     {"activeProfileIndex", 0},
					     {"shared", {{"frames", std::move(frames)}}},
					     {"profiles", std::move(all)}};
	output.append(json_dump(file));
	output.append("\n");
}

} // namespace monitor::exporting
