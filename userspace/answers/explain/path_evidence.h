// SPDX-License-Identifier: MIT
// What the rules need of a path (answers/path/): its parts as PathPart, its threads, how often it is handed over.
#pragma once

#include <set>

#include "answers/path/parts.h"
#include "answers/path/texts.h"
#include "answers/path/walk.h"
#include "evidence.h"
#include "priorities.h"
#include "reclaim.h"

namespace monitor::explain {

class PathReader {
public:
	// All must outlive it. `is_inside`: of the command or process whose path it is.
	PathReader(const path::Stretches &stretches, const path::Paths &paths, const analyze::ThreadFold &fold,
		   const path::IsInside &is_inside, const trace::Clock &clock)
	    : stretches_(stretches), paths_(paths), fold_(fold), is_inside_(is_inside), clock_(clock)
	{
	}

	// `parts`: by thread. `min_share`: of a thread that may take turns with others. Adds the unknown share to
	// `unknown`.
	Path read(const path::Parts &parts, const Priorities &priorities, const Reclaim &reclaim,
		  const std::vector<Use> &users, double min_share, double &unknown) const;

private:
	void add_threads(Path &path, const path::Parts &parts, const std::vector<Use> &users) const;
	PathPart part_of(const path::Part &part) const;
	void add_file_locks(Path &path) const;
	void add_reclaim(Path &path, const path::Parts &parts, const Reclaim &reclaim) const;
	void add_handovers(Path &path, double min_share) const;
	const path::Stretch *handed_over(const path::Link &from, const path::Link &to) const;
	std::int32_t process_of(std::uint32_t thread) const { return stretches_.threads()[thread].thread->tgid; }
	bool is_turn(const path::Stretch &stretch, const std::set<std::int32_t> &processes, bool takes_turns) const;
	double sleepers_in_futex(const std::set<std::int32_t> &processes, double min_share) const;
	double others_ran() const;
	void add_inversions(Path &path, const Priorities &priorities) const;
	std::uint32_t sleeper_until(std::uint32_t thread, std::uint64_t time, std::int32_t above,
				    const Priorities &priorities) const;
	std::uint64_t begin() const { return paths_.links().front().begin; }
	std::uint64_t end() const { return paths_.links().back().begin; }
	double share(std::uint64_t ticks) const
	{
		return static_cast<double>(ticks) / static_cast<double>(paths_.total());
	}
	std::string label_of(std::uint32_t thread) const
	{
		return path::thread_text(stretches_.threads()[thread], ~0ull, stretches_.names());
	}
	const std::string &name_of(std::uint32_t thread) const
	{
		return stretches_.names()[stretches_.threads()[thread].name_at(~0ull)];
	}

	const path::Stretches &stretches_;
	const path::Paths &paths_;
	const analyze::ThreadFold &fold_;
	const path::IsInside &is_inside_;
	const trace::Clock &clock_;
};

} // namespace monitor::explain
