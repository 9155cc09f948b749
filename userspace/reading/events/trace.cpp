// SPDX-License-Identifier: MIT
#include "trace.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/ranges.h"
#include "base/recording_file/contents.h"
#include "collection_clocks.h"
#include "cursor.h"
#include "fetched_packets.h"
#include "reading/ctf/interpret.h"
#include "reading/ctf/metadata.h"
#include "reading/ctf/tsdl.h"
#include "reading/tdl/other_files.h"
#include "reading/tdl/read.h"
#include "record_order.h"

namespace monitor::trace {
namespace {

namespace fs = std::filesystem;

constexpr const char *period_marks = "marked_periods"; // in `env`: this recorder marks the ends of periods
constexpr const char *remedy = "; name the directory of a trace";

// Directories with a description, at or below this one. LTTng makes one per tracer and per kind of buffer.
std::vector<fs::path> trace_directories(const fs::path &root)
{
	constexpr int max_depth = 16;
	std::error_code error;
	const fs::file_status status = fs::status(root, error);
	if (!fs::exists(status))
		throw Error("there is no trace " + root.string() + remedy);
	if (!fs::is_directory(status))
		throw Error(root.string() + " is neither a directory nor a regular file" + remedy);
	if (fs::exists(root / "metadata", error) || error)
		return {root};
	std::vector<fs::path> found;
	for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;) {
		const std::string name = entry->path().filename().string();
		std::error_code unreadable;
		if (name.front() == '.' || entry.depth() >= max_depth)
			entry.disable_recursion_pending();
		else if (name == "metadata" && entry->is_regular_file(unreadable))
			found.push_back(entry->path().parent_path());
		entry.increment(error);
	}
	if (error)
		throw Error(error.value(), "cannot list " + root.string());
	const bool is_flight = fs::exists(root / ".monitor" / "flight.json", error); // of record --flight
	if (is_flight && found.empty())
		throw Error(root.string() +
			    " is a flight recorder's, and has no snapshot: take one with `monitor snapshot`");
	if (is_flight && found.size() > 1)
		throw Error(root.string() + " has " + std::to_string(found.size()) +
			    " snapshots of a flight recorder, which overlap: name one, such as " +
			    std::ranges::max_element(found)->string());
	if (found.empty()) {
		const std::string reader = tdl::reader_of_files_in(root.string());
		throw Error(
		    root.string() + " is not a trace (no file `metadata` in it or below it); " +
		    (reader.empty() ? "name the directory of a trace, which `monitor record -o DIR` makes" : reader));
	}
	std::ranges::sort(found);
	return found;
}

std::unique_ptr<const Description> load_description(const std::string &path, std::uint32_t first_index,
						    std::vector<std::string> &warnings)
{
	const std::string file = read_file(path, 2 * max_description_bytes + 1);
	if (file.empty())
		throw Error(path + " is empty: the recording ended before it began; record again");
	if (file.size() > 2 * max_description_bytes)
		throw Error(path + " is larger than 32 MiB: it is not the description of a trace");
	std::string text, why;
	TextForm form = TextForm::plain;
	if (!metadata_text(std::as_bytes(std::span(file)), text, why, form))
		throw Error(path + (why.starts_with("line") ? ", " : " ") + why);
	auto description = read_description(text, why, first_index, form);
	if (!description)
		throw Error(path + ", " + why);
	if (!description->warning.empty())
		warnings.push_back(path + ", " + description->warning);
	return description;
}

std::vector<fs::path> stream_files(const fs::path &directory)
{
	std::vector<fs::path> paths;
	std::error_code error;
	for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
		const std::string name = entry->path().filename().string();
		std::error_code unreadable;
		if (name.front() != '.' && name != "metadata" && entry->is_regular_file(unreadable))
			paths.push_back(entry->path());
	}
	if (error)
		throw Error(error.value(), "cannot list " + directory.string());
	std::ranges::sort(paths);
	return paths;
}

// Links files that continue each other, in time order.
void chain(const std::vector<std::unique_ptr<Stream>> &streams)
{
	std::vector<Stream *> ordered;
	for (const auto &stream : streams)
		if (!stream->is_foreign())
			ordered.push_back(stream.get());
	std::ranges::sort(ordered, {}, &Stream::begin_time);
	for (std::size_t i = 1; i < ordered.size(); ++i)
		for (std::size_t earlier = i; earlier-- > 0;)
			if (ordered[i]->continues(*ordered[earlier])) {
				ordered[i]->follow(*ordered[earlier]);
				break;
			}
}

// Files of periods (record --statistics) end with an empty packet, whose number is that of the packets before it. Older
// recorders did not write it.
void report_cut_periods(const std::vector<std::unique_ptr<Stream>> &streams, Problems &problems)
{
	for (const auto &stream : streams) {
		const std::uint64_t packets = stream->packets();
		PacketHead last;
		if (!is_period(*stream) || stream->description()->find_env(period_marks) == nullptr)
			continue;
		const bool is_whole = packets > 0 && !stream->read_head(packets - 1, last) &&
				      last.content_bits == last.first_bits && last.sequence == packets - 1;
		if (!is_whole)
			problems.add(
			    stream->info(), packets, stream->offset(packets),
			    "the end of the file is missing: it has no end mark that says how many packets there are");
	}
}

// Reports streams that lack packets or whose file is missing.
void report_missing(const Stream &stream, Problems &problems)
{
	if (stream.missing())
		problems.add(stream.info(), stream.packets(), stream.offset(stream.packets()),
			     (stream.trailing_bytes() ? "the file ends in the middle of a packet: " : "") +
				 std::to_string(stream.missing()) + " packets that were recorded are missing" +
				 (stream.packets() ? "" : ": the file is not here"));
}

// The times of the first and the last event from this packet on, if packets have no times.
std::pair<std::uint64_t, std::uint64_t> read_times(const Stream &stream, std::uint64_t packet)
{
	Problems ignored; // reported when the stream is read
	Cursor cursor(stream, *stream.description(), ignored, 0);
	std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
	for (auto item = cursor.start_at(packet); item != Cursor::Item::end; item = cursor.advance())
		if (item == Cursor::Item::event) {
			begin = std::min(begin, cursor.time());
			end = cursor.time();
		}
	return {std::min(begin, end), end};
}

// When a trace was recorded, in ns since the epoch; for a machine, the union of its traces recorded at the same time.
struct Recorded {
	std::string host;
	std::string argument; // the path on the command line
	bool has_tokens = false;
	std::string lines_of; // the part of a collection whose clock lines are used; "": none
	std::int64_t begin_ns = std::numeric_limits<std::int64_t>::min(),
		     end_ns = std::numeric_limits<std::int64_t>::max();

	// Traces recorded one after the other have different threads and states, even if the numbers are the same.
	// Other tracers have a trace per process: those below one directory belong together. Parts with separate lines
	// to the reference clock have no known order among each other.
	bool is_same_machine(const Recorded &other) const
	{
		if (lines_of != other.lines_of)
			return false;
		const bool in_turn = begin_ns > other.end_ns || other.begin_ns > end_ns;
		const bool is_apart = argument != other.argument || (has_tokens && other.has_tokens);
		return host == other.host && !(in_turn && is_apart);
	}
};

Recorded when_recorded(const Description &description, std::span<const std::unique_ptr<Stream>> streams)
{
	Recorded recorded;
	recorded.has_tokens = description.has_tokens();
	bool is_first = true;
	for (const auto &stream : streams) {
		if (stream->is_foreign() || !stream->has_packet_times() || !stream->has_packet_end())
			continue;
		const std::int64_t begin_ns = description.clock.wall_ns(stream->begin_time()),
				   end_ns = description.clock.wall_ns(stream->end_time());
		recorded.begin_ns = is_first ? begin_ns : std::min(recorded.begin_ns, begin_ns);
		recorded.end_ns = is_first ? end_ns : std::max(recorded.end_ns, end_ns);
		is_first = false;
	}
	return recorded;
}

// Whether --filter left out system calls: recording.json has the classes that it left out, in part or wholly.
bool were_calls_left_out(const recording_file::Contents &recorded)
{
	const auto has_calls = [](const std::vector<std::string> &names) {
		return std::ranges::count(names, "sys_enter") || std::ranges::count(names, "sys_exit");
	};
	return has_calls(recorded.filter.part) || has_calls(recorded.filter.none);
}

// Sets the streams' numbers of packets that the recorder wrote, and adds streams whose file is missing. `name_of` maps
// a file's name to its stream's.
template <class NameOf>
void set_recorded(const std::map<std::string, std::uint64_t> &untrusted_recorded, const NameOf &name_of,
		  const std::shared_ptr<const Description> &description, std::vector<std::unique_ptr<Stream>> &streams)
{
	constexpr std::size_t max_streams = 1 << 16;
	std::map<std::string, Stream *> by_name;
	for (const auto &stream : streams)
		by_name.emplace(stream->info().name, stream.get());
	for (const auto &[file, packets] : untrusted_recorded) {
		const std::string name = name_of(file);
		auto found = by_name.find(name);
		if (found == by_name.end() && packets && streams.size() < max_streams) {
			streams.push_back(std::make_unique<Stream>(name, description, std::span<const std::byte>()));
			found = by_name.emplace(name, streams.back().get()).first;
		}
		if (found != by_name.end())
			found->second->set_recorded(packets);
	}
}

// The traces that are read together, added one after the other.
struct Parts {
	std::vector<fs::path> directories;
	std::vector<std::shared_ptr<const Description>> descriptions;
	std::vector<std::unique_ptr<Stream>> streams;
	std::vector<std::string> machines;
	std::vector<Recorded> recorded;   // by machine
	std::vector<MachineClock> clocks; // by machine
	std::vector<std::string> warnings;
	bool has_lines = false; // in any trace's clock
	bool lacks_calls = false;
	std::map<fs::path, fs::path> added; // real path -> path as given
	bool is_fetched = false;            // some trace is only partly here
	std::uint32_t classes = 0;

	// Snapshots of one flight recorder's recording, by the directory above them and the recording's uuid.
	struct Snapshot {
		std::int64_t begin_ns, end_ns;
		fs::path directory;
		std::string argument;

		bool is_numbered() const
		{
			return directory.filename().string().find_first_not_of("0123456789") == std::string::npos;
		}
		bool is_copy_of(const Snapshot &other) const
		{
			return begin_ns == other.begin_ns && end_ns == other.end_ns && argument != other.argument;
		}
		bool overlaps(const Snapshot &other) const
		{
			return begin_ns <= other.end_ns && other.begin_ns <= end_ns;
		}
	};
	std::map<std::pair<fs::path, std::array<std::uint8_t, 16>>, std::vector<Snapshot>> snapshots;
	// By host and uuid.
	std::map<std::pair<std::string, std::array<std::uint8_t, 16>>, std::vector<Snapshot>> recordings;

	struct Unreadable {
		std::string name, why;
	};
	std::vector<Unreadable> unreadable; // beside traces that can be read

	// Whether it was added before, perhaps under another name: a link, or a directory above it. If so, warns.
	bool is_repeated(const fs::path &path)
	{
		std::error_code unreadable;
		const fs::path real = fs::canonical(path, unreadable);
		const auto [known, is_new] = added.emplace(unreadable ? path : real, path);
		if (!is_new)
			warnings.push_back(known->second == path ? path.string() + " is named twice: it is read once"
								 : path.string() + " and " + known->second.string() +
								       " are one trace by two names: it is read once");
		return !is_new;
	}

	// Stream names are relative to `root`. If it throws Error, nothing was added.
	void add(const fs::path &directory, const std::string &argument, const fs::path &root, PartClock clock)
	{
		std::shared_ptr<const Description> description =
		    load_description((directory / "metadata").string(), classes, warnings);
		const auto fetched = read_fetched_part(directory.string());
		std::vector<std::unique_ptr<Stream>> own_streams;
		const auto name_of = [&](const fs::path &file) {
			return (directory / file).lexically_relative(root).string();
		};
		for (const fs::path &path : stream_files(directory)) {
			MappedFile file(path.string());
			if (file.size() == 0)
				continue;
			const std::string name = name_of(path.filename());
			if (auto part =
				fetched ? fetched_stream(path, name, file, fetched->fetched, description) : nullptr) {
				own_streams.push_back(std::move(part));
				continue;
			}
			const fs::path index = directory / "index" / (path.filename().string() + ".idx");
			std::error_code ignored;
			own_streams.push_back(std::make_unique<Stream>(
			    name, description, std::move(file),
			    fs::is_regular_file(index, ignored) ? MappedFile(index.string()) : MappedFile()));
		}
		if (fetched)
			warnings.push_back(fetched->text());
		is_fetched = is_fetched || fetched;
		if (const auto recorded = recording_file::contents_in(directory.string())) {
			lacks_calls = lacks_calls || were_calls_left_out(*recorded);
			if (!fetched && description->has_tokens())
				set_recorded(recorded->streams, name_of, description, own_streams);
		}
		directories.push_back(directory);
		descriptions.push_back(std::move(description));
		classes += static_cast<std::uint32_t>(descriptions.back()->classes().size());
		Recorded when = when_recorded(*descriptions.back(), own_streams);
		const Snapshot this_one{when.begin_ns, when.end_ns, directory, argument};
		const std::string *host = descriptions.back()->find_env("hostname");
		if (when.has_tokens && descriptions.back()->has_uuid)
			recordings[{host ? *host : "", descriptions.back()->uuid}].push_back(this_one);
		if (when.has_tokens && this_one.is_numbered())
			snapshots[{directory.parent_path(), descriptions.back()->uuid}].push_back(this_one);
		if (clock.has_lines)
			when.lines_of = directory.lexically_relative(root).begin()->string();
		const std::uint32_t machine = machine_of(directory, argument, std::move(when));
		const auto lines = lines_of(clock, directory);
		clocks.resize(machines.size());
		if (lines)
			clocks[machine].add(lines);
		else
			clocks[machine].add(clock.has_lines ? std::nullopt : clock.bound);
		for (auto &stream : own_streams) {
			stream->set_machine(machine);
			stream->set_lines(lines);
			streams.push_back(std::move(stream));
		}
	}

	// A stream of a partly fetched trace. nullptr: nothing is known of it.
	static std::unique_ptr<Stream> fetched_stream(const fs::path &path, const std::string &name, MappedFile &file,
						      const FetchedTrace &fetched,
						      const std::shared_ptr<const Description> &description)
	{
		const auto stream = fetched.streams.find(path.filename().string());
		if (stream == fetched.streams.end() || !description->has_tokens())
			return nullptr;
		auto packets = fetched_packets(file.bytes(), description->uuid, stream->second);
		return std::make_unique<Stream>(name, description, std::move(file), std::move(packets));
	}

	// Adds all below a directory. One that cannot be read does not hide the others, nor does a directory that the
	// collection names and that has no description.
	void add_all(const std::string &argument, bool is_only, std::map<std::string, PartClock> clocks)
	{
		std::set<std::string> found;
		for (const fs::path &part : trace_directories(argument)) {
			const std::string name = part.lexically_relative(argument).begin()->string();
			found.insert(name);
			if (is_repeated(part))
				continue;
			try {
				add(part, argument, is_only ? fs::path(argument) : part.parent_path(), clocks[name]);
			} catch (const Error &error) {
				unreadable.push_back({name == "." ? argument : name, error.what()});
			}
		}
		std::error_code ignored;
		for (const auto &[name, clock] : clocks)
			if (const std::string path = argument + '/' + name;
			    !found.contains(name) && fs::is_directory(path, ignored))
				unreadable.push_back({name, path + " is not a trace (no file `metadata` in it)"});
	}

	// Problems belong to streams, which unreadable traces have not: they come after all `others`.
	void report_unreadable_parts(Problems &problems, std::size_t others) const
	{
		StreamInfo none;
		none.index = static_cast<std::uint32_t>(others);
		for (const Unreadable &part : unreadable) {
			none.name = part.name;
			problems.add(none, 0, 0, part.why, "description");
			++none.index;
		}
	}

	// For the trace added last; nullptr: it has none.
	std::shared_ptr<const ClockMap> lines_of(PartClock &clock, const fs::path &directory)
	{
		if (!clock.has_lines)
			return nullptr;
		const char *why = nullptr;
		auto lines = ClockMap::make(std::move(clock.nodes), std::move(clock.bounds),
					    descriptions.back()->clock.frequency_hz, why);
		if (!lines)
			warnings.push_back("the clock of " + directory.string() +
					   " in .monitor/collection.json is ignored: " + why);
		has_lines = has_lines || lines;
		return lines;
	}

	// Snapshots overlap: events in the rings at both times are in both, and the blocks do not show which.
	void warn_of_overlaps()
	{
		for (auto &[recording, all] : recordings) {
			std::ranges::sort(all, {}, &Snapshot::begin_ns);
			for (std::size_t i = 1; i < all.size(); ++i) {
				const Snapshot &a = all[i - 1], &b = all[i];
				const std::string both = b.directory.string() + " and " + a.directory.string();
				if (a.is_copy_of(b))
					throw Error(both + " are one recording and a copy of it: name one of them");
				const bool are_of_flight = a.is_numbered() && b.is_numbered() &&
							   a.directory.parent_path() == b.directory.parent_path();
				if (a.overlaps(b) && !are_of_flight)
					warnings.push_back(
					    both +
					    " are one recording: what both have is read twice; name one of them");
			}
		}
		for (auto &[recording, all] : snapshots) {
			std::ranges::sort(all, {}, &Snapshot::begin_ns);
			const auto overlap = std::ranges::adjacent_find(
			    all, [](const Snapshot &a, const Snapshot &b) { return b.begin_ns <= a.end_ns; });
			if (overlap != all.end())
				warnings.push_back(recording.first.string() + " has " + std::to_string(all.size()) +
						   " snapshots of one flight recorder, which overlap: an event in "
						   "several of them is read several times; name one, such as " +
						   all.back().directory.string());
		}
	}

	// A single trace needs no common clock.
	void keep_own_clock()
	{
		has_lines = false;
		clocks = {MachineClock(0)};
		for (const auto &stream : streams)
			stream->set_lines(nullptr);
	}

	// A file described in TDL counts as a separate machine.
	void add_file(const fs::path &path, const std::string &tdl)
	{
		MappedFile file(path.string());
		if (file.size() == 0)
			throw Error(path.string() + " is empty; name a file that has content");
		const tdl::ModelFile source = tdl.empty() ? tdl::find(path.string(), file.bytes()) : tdl::load(tdl);
		directories.push_back(path);
		descriptions.push_back(tdl::compile_for(source, path.string(), file.bytes(), classes).description);
		classes += static_cast<std::uint32_t>(descriptions.back()->classes().size());
		machines.push_back(path.filename().string());
		recorded.emplace_back();
		clocks.emplace_back(std::nullopt);
		const std::string name = path.filename().string();
		streams.push_back(std::make_unique<Stream>(name, descriptions.back(), std::move(file)));
		RecordOrder order = order_records(*streams.back());
		if (order.step_back)
			warnings.push_back(path.string() + ": " + order.text());
		if (!order.sorted.empty())
			streams.back() = std::make_unique<Stream>(name, descriptions.back(), std::move(order.sorted));
		streams.back()->set_machine(static_cast<std::uint32_t>(machines.size() - 1));
	}

	// A trace without a host name counts as a separate machine.
	std::uint32_t machine_of(const fs::path &directory, const std::string &argument, Recorded when)
	{
		const std::string *host = descriptions.back()->find_env("hostname");
		when.host = host ? *host : "";
		when.argument = argument;
		bool is_same_host = false;
		for (std::size_t i = 0; i < machines.size() && host; ++i) {
			if (when.is_same_machine(recorded[i])) {
				recorded[i].begin_ns = std::min(recorded[i].begin_ns, when.begin_ns);
				recorded[i].end_ns = std::max(recorded[i].end_ns, when.end_ns);
				recorded[i].has_tokens |= when.has_tokens;
				return static_cast<std::uint32_t>(i);
			}
			is_same_host |= recorded[i].host == when.host;
		}
		// Recordings of one host one after the other are named by their directories.
		machines.push_back(!host ? directory.filename().string() : is_same_host ? directory.string() : *host);
		recorded.push_back(std::move(when));
		return static_cast<std::uint32_t>(machines.size() - 1);
	}
};

// One description for several traces: all their classes, and a clock that can express all times.
std::shared_ptr<const Description> joined(const std::vector<std::shared_ptr<const Description>> &parts, bool has_lines)
{
	if (parts.size() == 1)
		return parts.front();
	auto made = std::make_shared<Description>();
	made->env = parts.front()->env;
	made->clock = parts.front()->clock;
	for (const auto &part : parts) {
		for (const auto &cls : part->classes())
			made->add(cls);
		if (has_lines || !part->clock.is_same(made->clock))
			made->clock = {};
	}
	return made;
}

// For statistics, the start of the first period that is still there.
std::uint64_t recorded_since(const std::string &recording_json, std::uint64_t first_time, std::uint64_t end_time)
{
	const std::optional<recording_file::Contents> recorded = recording_file::parse(recording_json);
	if (!recorded || recorded->statistics)
		return first_time;
	const std::uint64_t start = recorded->start.time.value_or(first_time);
	return start <= end_time ? start : first_time; // the file is untrusted
}

} // namespace

Trace Trace::open(const std::vector<std::string> &directories, const std::string &tdl)
{
	Parts parts;
	std::error_code ignored;
	for (const std::string &directory : directories) {
		if (fs::is_regular_file(directory, ignored)) {
			if (!parts.is_repeated(directory))
				parts.add_file(directory, tdl);
			continue;
		}
		auto clocks = read_collection(directory, parts.warnings);
		if (&directory != directories.data())
			clocks.clear(); // nothing relates the parts' clocks
		parts.add_all(directory, directories.size() == 1, std::move(clocks));
	}
	if (parts.descriptions.empty())
		throw Error(parts.unreadable.front().why);
	parts.warn_of_overlaps();
	if (parts.descriptions.size() == 1)
		parts.keep_own_clock();
	Trace trace(joined(parts.descriptions, parts.has_lines), std::move(parts.streams));
	if (!parts.is_fetched) // else the parts report what is missing
		report_cut_periods(trace.streams_, trace.problems_);
	parts.report_unreadable_parts(trace.problems_, trace.streams_.size());
	trace.directory_ = parts.directories.front().string();
	trace.is_generic_ctf_ = parts.descriptions.size() > 1 || !parts.descriptions.front()->has_tokens();
	trace.lacks_calls_ = parts.lacks_calls;
	trace.machines_ = std::move(parts.machines);
	trace.machine_clocks_ = std::move(parts.clocks);
	trace.warnings_ = std::move(parts.warnings);
	if (parts.descriptions.size() == 1)
		trace.recording_json_ = recording_file::text_in(trace.directory_);
	if (!trace.is_generic_ctf_)
		trace.begin_time_ = recorded_since(trace.recording_json_, trace.first_time_, trace.end_time_);
	return trace;
}

std::vector<std::string> Trace::recordings_in(const std::string &directory)
{
	std::vector<std::string> recordings, warnings;
	std::error_code ignored;
	if (!fs::exists(fs::path(directory) / ".monitor" / "collection.json", ignored))
		return {directory};
	auto named = read_collection(directory, warnings);
	for (const fs::path &part : trace_directories(directory)) {
		if (!fs::exists(part / recording_file::file_name, ignored))
			return {directory};
		recordings.push_back(part.string());
		named.erase(part.lexically_relative(directory).begin()->string());
	}
	for (const auto &[name, clock] : named) // without a description, which opening it reports
		if (const fs::path part = fs::path(directory) / name; fs::is_directory(part, ignored))
			recordings.push_back(part.string());
	return recordings;
}

Trace::Trace(std::shared_ptr<const Description> description, std::vector<std::unique_ptr<Stream>> streams)
    : description_(std::move(description)), streams_(std::move(streams))
{
	const auto order = [](const std::unique_ptr<Stream> &stream) {
		const StreamInfo &info = stream->info();
		// EDC_CPU_UNKNOWN + 1 is 0: the recorder's stream is first
		return std::tuple(stream->is_foreign(), info.machine, info.cpu + 1, info.level,
				  std::string_view(info.name));
	};
	std::ranges::sort(streams_, {}, order);

	chain(streams_);
	first_time_ = std::numeric_limits<std::uint64_t>::max();
	for (std::size_t i = 0; i < streams_.size(); ++i) {
		Stream &stream = *streams_[i];
		stream.set_index(static_cast<std::uint32_t>(i));
		stream.set_clock(description_->clock);
		report_missing(stream, problems_);
		if (stream.is_foreign()) {
			PacketHead head;
			const bool is_elsewhere = stream.packets() == 1 && stream.read_head(0, head) == why_not_fetched;
			if (!stream.is_empty() && !is_elsewhere)
				problems_.add(stream.info(), 0, 0, stream.why_foreign());
			continue;
		}
		if (stream.has_packet_times() && !stream.has_packet_end())
			stream.set_last_event_time(read_times(stream, stream.seek(~std::uint64_t(0))).second);
		const auto [begin, end] = stream.has_packet_times() ? std::pair(stream.begin_time(), stream.end_time())
								    : read_times(stream, 0);
		first_time_ = std::min(first_time_, begin);
		end_time_ = std::max(end_time_, end);
	}
	begin_time_ = first_time_ = std::min(first_time_, end_time_);
	for (const auto &stream : streams_)
		stream->set_lost_until(end_time_);
	is_generic_ctf_ =
	    std::ranges::any_of(streams_, [](const auto &stream) { return stream->info().is_generic_ctf; });
}

bool Trace::is_empty() const
{
	return std::ranges::all_of(streams_,
				   [](const auto &stream) { return stream->packets() == 0 && !stream->is_missing(); });
}

std::uint64_t Trace::size_bytes() const
{
	return sum_of_all<std::uint64_t>(streams_,
					 [](const auto &stream) { return stream->offset(stream->packets()); });
}

std::vector<std::string> Trace::class_names() const
{
	std::vector<std::string> names;
	for (const auto &cls : description_->classes())
		if (description_->find(cls->name).front() == cls.get())
			names.push_back(cls->name);
	return names;
}

bool is_period(const Stream &stream)
{
	return !stream.is_foreign() && fs::path(stream.info().name).filename().string().starts_with("statistics_");
}

} // namespace monitor::trace
