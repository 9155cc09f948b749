// SPDX-License-Identifier: MIT
// Traces in a directory, for the tests of the public library: it opens nothing else. And what they hold, as the
// internal merge reads it: what the library is measured against.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include "poet/poet.hpp"
#include "reading/events/field_ref.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace poet_samples {

namespace fs = std::filesystem;
using samples::StreamWriter;

// A trace's files, gone with the object.
class Directory {
public:
	explicit Directory(std::vector<StreamWriter> &writers, const std::string &events = samples::some_events)
	    : path_(fs::temp_directory_path() / ("poet-" + std::to_string(::getpid()) + '-' + std::to_string(count_++)))
	{
		fs::create_directories(path_);
		write("metadata", samples::description_text(events));
		for (std::size_t i = 0; i < writers.size(); ++i) {
			const auto bytes = writers[i].bytes();
			write("s" + std::to_string(i), {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
		}
	}
	~Directory() { fs::remove_all(path_); }
	Directory(const Directory &) = delete;
	Directory &operator=(const Directory &) = delete;

	std::string path() const { return path_.string(); }
	void write(const std::string &name, const std::string &bytes) const
	{
		std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
	}
	std::string read(const std::string &name) const
	{
		std::ifstream file(path_ / name, std::ios::binary);
		return {std::istreambuf_iterator<char>(file), {}};
	}

private:
	static inline int count_ = 0;
	fs::path path_;
};

// An event or a gap, with what tells it from others.
struct Shown {
	bool is_event = true;
	std::uint32_t stream = 0;
	std::uint64_t time = 0, to = 0, value = 0; // of a gap: its end, what was lost

	bool operator==(const Shown &) const = default;
	friend std::ostream &operator<<(std::ostream &out, const Shown &shown)
	{
		return out << (shown.is_event ? "event " : "gap ") << shown.stream << ' ' << shown.time << ' '
			   << shown.to << ' ' << shown.value;
	}
};

inline std::vector<Shown> merged(const std::string &directory, monitor::trace::TimeRange range = {})
{
	using namespace monitor::trace;
	Trace trace = Trace::open(directory);
	std::vector<FieldRef> values;
	for (const auto &cls : trace.description().classes())
		values.emplace_back(*cls, "arg");
	std::vector<Shown> shown;
	merge(
	    trace, range,
	    [&](const Event &event) {
		    shown.push_back({true, event.stream->index, event.time, 0, values[event.cls->index].get(event)});
	    },
	    [&](const StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    shown.push_back({false, stream.index, from, to, lost});
	    });
	return shown;
}

inline Shown show(const poet::Event &event, const poet::Field &value)
{
	return {true, event.stream_index(), event.time(), 0,
		static_cast<std::uint64_t>(event.get<std::int64_t>(value).value_or(-99))};
}
inline Shown show(const poet::Gap &gap)
{
	return {false, gap.stream->index, gap.from, gap.to, gap.lost.value_or(monitor::trace::unknown_count)};
}
inline Shown show(const poet::Cursor &cursor, const poet::Field &value)
{
	return cursor.item() == poet::Item::event ? show(cursor.event(), value) : show(cursor.gap());
}

// Streams with bursts, equal times within and between them, whole packets at one tick, empty packets, and losses.
inline std::vector<StreamWriter> random_streams(unsigned seed, unsigned streams, int events)
{
	std::mt19937 random(seed);
	std::vector<StreamWriter> writers;
	for (unsigned i = 0; i < streams; ++i) {
		auto &writer = writers.emplace_back(i / 2, i % 2);
		std::uint64_t time = 1000 + random() % 50, lost = random() % 4 == 0 ? 1 : 0;
		writer.open(time, lost);
		for (int n = 0; n < events; ++n) {
			const unsigned way = random() % 1000;
			if (way > 1)
				time += way < 700 ? 0 : way < 990 ? random() % 3 : random() % 400;
			if (writer.room() < 16 || way < 8) {
				lost += way == 3 ? random() % 9 : 0;
				if (way == 4)
					writer.skip_sequence(1 + random() % 3);
				if (way == 5)
					writer.open(time, lost); // stays empty
				writer.open(time, lost);
			}
			if (random() % 2)
				writer.post(time, 256, n & 0x7fff);
			else
				writer.post(time, 257, n & 0x7fff, {time});
		}
	}
	return writers;
}

} // namespace poet_samples
