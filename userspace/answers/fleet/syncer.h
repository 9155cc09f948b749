// SPDX-License-Identifier: MIT
// Answers what was written once it is on the disk: one fdatasync for all that was written to a file meanwhile.
//
// The collector adds what it has placed; the thread here syncs the files and then answers. Invariant: `stored` is
// answered only after fdatasync succeeded on the file and, if it is new, on its directory.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/fleet/batch.h"

namespace monitor::fleet {

struct Unsynced {
	std::string path;
	std::shared_ptr<const Fd> file;
	bool is_new = false; // its directory's entry is, too
	std::string reply;
	Answer answer;
};

class Syncer {
public:
	// Both are called by the thread. `failed`: what was written to this path may not be on the disk, although
	// reading it shows it.
	Syncer(std::function<void(const std::string &reply, const Answer &)> answer,
	       std::function<void(const std::string &path, int error_number)> failed);
	// Answers what is left.
	~Syncer();

	// Waits while too much is left to do: the number of open files is bounded.
	void add(Unsynced unsynced);

private:
	void run();
	void sync(std::vector<Unsynced> &round);

	std::function<void(const std::string &, const Answer &)> answer_;
	std::function<void(const std::string &, int)> failed_;
	std::mutex mutex_;
	std::condition_variable changed_;
	std::vector<Unsynced> waiting_;
	bool stopping_ = false;
	std::thread thread_;
};

} // namespace monitor::fleet
