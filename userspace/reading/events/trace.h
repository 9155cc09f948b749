// SPDX-License-Identifier: MIT
// A trace opened for reading: its description, its streams, and what is wrong with them.
// Every offline command opens one and passes it to merge() (merge.h). Packets are checked when they are read, so
// problems() grows while merge() runs. One thread reads a Trace. Invariant: streams() are sorted by machine, cpu, then
// level, the recorder's first: the order of events at equal times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine_clock.h"
#include "problem.h"
#include "reading/ctf/description.h"
#include "stream.h"

namespace monitor::trace {

class Trace {
public:
	// Throws Error: no such directory, not a trace, or not supported.
	static Trace open(const std::string &directory) { return open(std::vector<std::string>{directory}); }
	// Several traces are read as one, in time order. A path that is not a directory is a file described in TDL: by
	// the description named `tdl`, or, if that is "", by the one with the file's magic.
	static Trace open(const std::vector<std::string> &directories, const std::string &tdl = "");
	// The recordings in a collection (monitor merge, a fleet's run); the directory itself if it is not a
	// collection, or has other tracers' traces. Throws Error like open().
	static std::vector<std::string> recordings_in(const std::string &directory);
	// From parts in memory, for tests; the order of streams does not matter.
	Trace(std::shared_ptr<const Description> description, std::vector<std::unique_ptr<Stream>> streams);

	const Description &description() const { return *description_; }
	const std::vector<std::unique_ptr<Stream>> &streams() const { return streams_; }
	// Host names, or the names of directories where the description has no host name.
	const std::vector<std::string> &machines() const { return machines_; }
	// How far a machine's times may be off the common clock, which is the first machine's or a fleet's.
	const std::vector<MachineClock> &machine_clocks() const { return machine_clocks_; }
	// Each name once, in the order of the description.
	std::vector<std::string> class_names() const;

	// Time 0 of all answers: for a recording the start of its window, from recording.json, else first_time().
	std::uint64_t begin_time() const { return begin_time_; }
	// Of the earliest and the latest good packet, in ticks.
	std::uint64_t first_time() const { return first_time_; }
	std::uint64_t end_time() const { return end_time_; }
	// In ns since begin_time(): negative before it.
	std::int64_t since_begin_ns(std::uint64_t time) const
	{
		return description_->clock.since_ns(begin_time_, time);
	}
	std::uint64_t from_begin_ns(std::int64_t ns) const
	{
		return description_->clock.from_since_ns(begin_time_, ns);
	}

	// Whether it is another tracer's, or several traces: it may lack what monitor's own recordings have.
	bool is_generic_ctf() const { return is_generic_ctf_; }
	// The size of all stream files.
	std::uint64_t size_bytes() const;

	// There are descriptions but no packets: nothing was recorded.
	bool is_empty() const;
	// Unknown parts of the descriptions, which are ignored: one line per description.
	const std::vector<std::string> &warnings() const { return warnings_; }

	Problems &problems() { return problems_; }
	const Problems &problems() const { return problems_; }

	const std::string &directory() const { return directory_; }
	// The text of .monitor/recording.json, or "".
	const std::string &recording_json() const { return recording_json_; }
	// Whether --filter left out system calls in one of the recordings.
	bool lacks_calls() const { return lacks_calls_; }

private:
	std::string directory_;
	std::string recording_json_;
	std::vector<std::string> machines_ = {""};
	std::vector<MachineClock> machine_clocks_ = {MachineClock(0)};
	std::shared_ptr<const Description> description_;
	std::vector<std::unique_ptr<Stream>> streams_;
	Problems problems_;
	std::vector<std::string> warnings_;
	bool is_generic_ctf_ = false, lacks_calls_ = false;
	std::uint64_t begin_time_ = 0, first_time_ = 0, end_time_ = 0;
};

// Whether it is the file of a period (record --statistics); other streams of such a recording are the recorder's own.
bool is_period(const Stream &stream);

} // namespace monitor::trace
