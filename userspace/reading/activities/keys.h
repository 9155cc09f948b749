// SPDX-License-Identifier: MIT
// What distinguishes rows: the values of some names in an event, as bytes to compare and as cells to print.
//
// Names are those of FDL (Documentation/filters.md): a field, or cpu, tid, name, stream ... In addition, `thread` and
// `process` stand for what ran: their numbers are compared, their names are looked up at the end (ThreadTable). Const
// once made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reading/ctf/description.h"
#include "reading/events/threads.h"
#include "reading/filter/filter.h"
#include "reading/filter/pair_text.h"
#include "reading/filter/value_source.h"

namespace monitor::activities {

// The threads of all machines: their last names, and the process that each belongs to.
class ThreadTable {
public:
	void learn(const trace::Threads &threads);
	// A token says which process a thread belongs to.
	void belongs(std::uint32_t machine, std::int64_t tid, std::int64_t process)
	{
		process_[{machine, tid}] = process;
	}
	void merge(const ThreadTable &later);
	// Names of the machines, if there are several: cells specific to one are then labelled with it.
	void set_machines(std::vector<std::string> names) { machines_ = std::move(names); }
	bool are_of_several() const { return machines_.size() > 1; }
	// "host:", or "" if there is only one.
	std::string machine(std::uint32_t number) const;
	// "make-1234"
	std::string thread(std::uint32_t machine, std::int64_t tid) const;
	// The thread itself if no token gave its process.
	std::int64_t process(std::uint32_t machine, std::int64_t tid) const;
	// Calls visit(machine, tid, process, name) for every thread with a name or a process.
	template <class Visit> void visit(Visit &&visit) const
	{
		for (const auto &[id, name] : names_)
			visit(id.first, id.second, process(id.first, id.second), name);
		for (const auto &[id, process] : process_)
			if (!names_.contains(id))
				visit(id.first, id.second, process, std::string());
	}

private:
	using ThreadId = std::pair<std::uint32_t, std::int64_t>;
	std::map<ThreadId, std::string> names_;
	std::map<ThreadId, std::int64_t> process_;
	std::vector<std::string> machines_;
};

// The value of one of the names in an event: a number, a text, or nothing.
struct Cell {
	enum class Kind : std::uint8_t { none, signed_number, unsigned_number, text, thread, process };

	Kind kind = Kind::none;
	std::uint64_t bits = 0;
	bool is_of_machine = false; // a thread or a CPU: each machine has its own
	std::uint32_t machine = 0;
	std::string text; // also the label of a number

	bool is_number() const { return kind != Kind::none && kind != Kind::text; }
	filter::Integer number() const
	{
		return kind == Kind::unsigned_number ? filter::Integer(bits)
						     : filter::Integer(static_cast<std::int64_t>(bits));
	}
	std::string shown(const ThreadTable &threads) const;
	// Equal cells append equal bytes.
	void append(std::string &bytes) const;
};

class Keys {
public:
	Keys() = default;
	enum class Takes : std::uint8_t {
		integers_and_texts,
		numbers,
		as_filters, // integers and texts; `thread` is its name, as in FDL
	};

	// Throws Error naming `option` if no class of the trace has one of the names, or only with an unsuitable type.
	// `time` is in ns since `begin_time`. The description must outlive this.
	// With Evaluator::reader, a value that an event lacks is derived from earlier events, as filters do.
	Keys(std::vector<std::string> names, const trace::Description &description, std::uint64_t begin_time,
	     const char *option, Takes takes = Takes::integers_and_texts,
	     filter::Evaluator evaluator = filter::Evaluator::reader);

	const std::vector<std::string> &names() const { return names_; }
	bool empty() const { return names_.empty(); }
	bool needs_threads() const { return needs_threads_; }
	// Whether the name at this position is specific to a machine, as threads, CPUs and devices are. Then so must be
	// whatever it is compared with.
	bool is_of_machine(std::size_t index) const { return of_machine_[index]; }
	void set_of_machine(std::size_t index) { of_machine_[index] = true; }
	// Threads are compared by their processes, according to this table, which must outlive this.
	void set_threads(const ThreadTable &threads) { threads_ = &threads; }
	bool has_processes() const;
	// Whether one of the names is derived from earlier events, not a field of the class.
	bool derives(const trace::EventClass &cls) const;
	// Whether the events of a class have all the names.
	bool are_in(const trace::EventClass &cls) const;
	// The type of the name at this position in a class.
	filter::Type type(std::size_t index, const trace::EventClass &cls) const
	{
		return classes_[cls.index][index].resolved.type;
	}

	// If the first name is a real number in any class, number() is in millionths.
	bool is_real() const { return is_real_; }
	static constexpr std::int64_t real_parts = 1'000'000;
	// The first name as a number; an integer is saturated. False: the event lacks it, or it is not a number, or too
	// large a real.
	bool number(const trace::Event &event, const filter::Running &running, std::int64_t &value) const;
	// The first name that is a thread's. nullopt: there is none, or the event lacks it.
	std::optional<std::int64_t> thread(const trace::Event &event, const filter::Running &running) const;
	// Appends the values as bytes. Equal values give equal bytes. False: one of them is missing.
	bool append(const trace::Event &event, const filter::Running &running, std::string &bytes) const;
	// The same for an event that would have this number; only for keys of one name.
	void append(std::uint64_t number, std::uint32_t machine, std::string &bytes) const;
	// The value of one name, without its label.
	Cell cell(std::size_t index, const trace::Event &event, const filter::Running &running) const;
	// The same values to print.
	std::vector<Cell> cells(const trace::Event &event, const filter::Running &running) const;

private:
	struct Part {
		filter::Resolved resolved;
		Cell::Kind thread_kind = Cell::Kind::none; // thread or process
		bool is_device = false;                    // of monitor's own events: the kernel's dev_t
	};
	bool bits(const Part &part, const trace::Event &event, const filter::Running &running,
		  std::uint64_t &value) const;

	std::vector<std::string> names_;
	const trace::Clock *clock_ = nullptr;
	std::uint64_t begin_time_ = 0;
	std::vector<std::vector<Part>> classes_; // by class index
	std::vector<bool> of_machine_;           // by name
	const ThreadTable *threads_ = nullptr;
	bool needs_threads_ = false, is_real_ = false;
};

using filter::split_names;

// The events of one side of a key.
struct KeySide {
	const Keys *keys;
	const filter::Filter *pattern;
	std::string_view what; // for the message: `no event that` ...
};

// Throws Error naming `where` if no event of a side has the key, or a name is a number on one side and text on the
// other. A side that no class of the trace matches is compatible with any other.
void expect_comparable(std::span<const KeySide> sides, const trace::Description &description, const std::string &where);

// A name specific to a machine in one of the keys becomes so in all. Keys without names are skipped.
void share_machines(std::span<Keys> keys);

} // namespace monitor::activities
