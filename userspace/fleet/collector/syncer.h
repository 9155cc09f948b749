// SPDX-License-Identifier: MIT
// Answers messages once their content is on the disk: the accounts, if a trace is new, then all files written
// meanwhile.
// Its thread takes all that was added as one round: has the accounts saved, syncs each file once (disk_sync.h), renames
// descriptions, then answers. Invariant: `stored` is answered only after the accounts with its trace, the content of
// its file and, if the file is new, its directory entry are on the disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "disk_sync.h"
#include "fleet/wire/batch.h"

namespace monitor::fleet {

struct Unsynced {
	std::string path;
	std::shared_ptr<const Fd> file;
	bool is_new = false;     // sync its directory entry, too
	std::string target;      // new name once its content is on the disk; "": unchanged
	std::uint64_t trace = 0; // required number of traces in the accounts: StoredTrace::number
	std::string reply;
	Answer answer;
};

// The answer if this error kept the content from the disk. Most errors are temporary, except that another kind of file
// has the name.
Status status_of_error(int error_number);

class Syncer {
public:
	// Callbacks run in its thread, without locks. `save`: saves the accounts if a trace is new, and returns the
	// number of traces in those on the disk. `failed`: the content of this path may not be on the disk, although it
	// can be read.
	Syncer(const std::string &run, std::function<std::uint64_t()> save,
	       std::function<void(const std::string &reply, const Answer &)> answer,
	       std::function<void(const std::string &path, int error_number)> failed);
	// Answers what is pending.
	~Syncer();

	// Waits until the limit of open files permits more. `save` must be able to run meanwhile.
	void wait_for_room();
	void add(Unsynced unsynced);

private:
	struct Waiting {
		std::string reply;
		Answer answer;
		std::uint64_t trace;
	};
	struct File {
		std::shared_ptr<const Fd> file;
		bool is_new = false;
		std::string target;
		int error = 0;
		std::vector<Waiting> waiting;
	};
	using Round = std::map<std::string, File>; // by path

	void run();
	void sync(Round &round);
	void sync_content(Round &round);
	void sync_directory_entries(Round &round);
	void answer(const File &file, std::uint64_t saved) const;

	DiskSync disk_;
	std::function<std::uint64_t()> save_;
	std::function<void(const std::string &, const Answer &)> answer_;
	std::function<void(const std::string &, int)> failed_;
	std::mutex mutex_; // protects the following
	std::condition_variable changed_;
	Round waiting_;
	std::size_t messages_ = 0; // number of its messages
	bool stopping_ = false;
	std::thread thread_;
};

} // namespace monitor::fleet
