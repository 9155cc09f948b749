// SPDX-License-Identifier: MIT
#include "packed_frames.h"

#include <sstream>
#include <utility>

#include "base/untrusted_json.h"

namespace monitor::symbols {

using untrusted_json::Json, untrusted_json::member, untrusted_json::number, untrusted_json::text;

namespace {

constexpr std::size_t max_frames = 1024; // at one address

std::vector<SourceFrame> frames_in(const Json &line)
{
	std::vector<SourceFrame> frames;
	for (const Json &frame : member(line, "frames"))
		if (frame.is_array() && frame.size() == 2 && frame[0].is_string() && frame[1].is_string() &&
		    frames.size() < max_frames)
			frames.push_back({frame[0].get<std::string>(), frame[1].get<std::string>()});
	return frames;
}

nlohmann::ordered_json array_of(const std::vector<SourceFrame> &frames)
{
	nlohmann::ordered_json array = nlohmann::ordered_json::array();
	for (const SourceFrame &frame : frames)
		array.push_back({frame.function, frame.line});
	return array;
}

} // namespace

PackedFrames parse_packed_frames(const std::string &untrusted_text)
{
	PackedFrames packed;
	std::istringstream lines(untrusted_text);
	for (std::string each; std::getline(lines, each);) {
		const Json line = parse_json(each);
		if (!line.is_object())
			continue;
		if (line.contains("process")) {
			const std::uint64_t process = number(member(line, "process"));
			packed.jit.push_back({static_cast<std::int32_t>(process & INT32_MAX),
					      {number(member(line, "address")), number(member(line, "size")),
					       number(member(line, "since")), text(member(line, "name"))}});
			continue;
		}
		PackedFrames::InFile frames;
		frames.file = static_cast<std::uint32_t>(number(member(line, "file")));
		frames.address = number(member(line, line.contains("kernel") ? "kernel" : "at"));
		frames.frames = frames_in(line);
		frames.module = text(member(line, "module"));
		if (!frames.frames.empty() && (frames.file != 0 || line.contains("kernel")))
			packed.in_files.push_back(std::move(frames));
	}
	return packed;
}

std::string packed_frames_text(const PackedFrames &packed)
{
	std::string all;
	for (const PackedFrames::InFile &frames : packed.in_files) {
		nlohmann::ordered_json line;
		if (frames.file == 0) {
			line["kernel"] = frames.address;
		} else {
			line["file"] = frames.file;
			line["at"] = frames.address;
		}
		line["frames"] = array_of(frames.frames);
		if (!frames.module.empty())
			line["module"] = frames.module;
		all += json_dump(line) + "\n";
	}
	for (const PackedFrames::Jit &jit : packed.jit)
		all += json_dump(nlohmann::ordered_json{{"process", jit.process},
							{"address", jit.function.address},
							{"size", jit.function.size},
							{"since", jit.function.since},
							{"name", jit.function.name}}) +
		       "\n";
	return all;
}

} // namespace monitor::symbols
