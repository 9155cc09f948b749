// SPDX-License-Identifier: MIT
#include "user_search.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/elf_image.h"
#include "base/error.h"
#include "monitor/user_ring.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

// edc_card.h: EDC_UNKNOWN_, EDC_OFF_, EDC_REFUSED_
constexpr std::uint32_t not_looked_yet = 0, off = 1, refused = 4;
constexpr std::string_view area_name = "/memfd:monitor-edc";
constexpr char note_name[] = "monitor";
constexpr std::uint32_t note_type = 1;

// Limits for reading other users' files.
constexpr std::size_t max_map_bytes = 4 << 20, max_files = 1000; // of a process
constexpr unsigned process_seconds = 1;                          // a file system that does not answer
constexpr auto all_seconds = 10s;

// Address of the pointer to the card, relative to the file's load address.
using Where = std::optional<std::uint64_t>;

// The note's content is the distance from itself to the pointer.
Where find_in_file(const std::string &path)
{
	const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	const std::optional<ElfImage> image = fd ? ElfImage::open(fd.get()) : std::nullopt;
	if (!image || image->loads().empty())
		return {};
	const std::uint64_t first_load =
	    std::ranges::min_element(image->loads(), {}, &ElfSegment::address)->address & ~4095ull;
	Where found;
	for (const ElfNote &note : image->notes()) {
		std::int64_t distance;
		if (note.type != note_type || note.name != note_name || note.content.size() != sizeof distance)
			continue;
		std::memcpy(&distance, note.content.data(), sizeof distance);
		found = note.address + static_cast<std::uint64_t>(distance) - first_load;
	}
	return found;
}

template <class T> bool copy_from(pid_t pid, std::uint64_t address, T &value)
{
	const iovec here{&value, sizeof value}, there{reinterpret_cast<void *>(address), sizeof value};
	return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof value;
}

// Where an area is mapped in a process, as the names of /proc/PID/map_files say, by its address.
using Areas = std::map<std::uint64_t, std::string>;

// Whether the card's recorder is gone: its lock is free (user_process_table.cpp).
bool is_read_by_nobody(pid_t pid, std::uint64_t card, const Areas &areas)
{
	std::uint64_t address = 0;
	const auto area = copy_from(pid, card + EDC_CARD_AREA_AT, address) ? areas.find(address) : areas.end();
	if (area == areas.end())
		return false;
	const Fd fd(::open(area->second.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0;
}

// Makes a card look for a recorder again that found none, or whose recorder is gone.
void wake(pid_t pid, std::uint64_t pointer, const Areas &areas)
{
	std::uint64_t card = 0;
	std::uint32_t word = 0;
	if (!copy_from(pid, pointer, card) || !copy_from(pid, card + EDC_CARD_WORD_AT, word) ||
	    word == not_looked_yet || (word != off && word != refused && !is_read_by_nobody(pid, card, areas)))
		return;
	std::uint32_t again = not_looked_yet;
	const iovec here{&again, sizeof again}, there{reinterpret_cast<void *>(card), sizeof again};
	::process_vm_writev(pid, &here, 1, &there, 1, 0);
}

class Search {
public:
	// False if it has more files than are searched.
	bool wake_cards_of(pid_t pid)
	{
		const std::string text = read_text(fmt::format("/proc/{}/maps", pid), max_map_bytes);
		std::istringstream maps(text);
		std::size_t files = 0;
		std::vector<std::uint64_t> pointers;
		Areas areas;
		for (std::string line; std::getline(maps, line);) {
			std::uint64_t start = 0, end = 0, offset = 0, inode = 0;
			unsigned major = 0, minor = 0;
			char rights[5] = "";
			if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu", &start, &end, rights, &offset,
					&major, &minor, &inode) != 7 ||
			    offset != 0 || inode == 0)
				continue;
			if (++files > max_files)
				return false;
			const std::string path = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, start, end);
			if (line.find(area_name) != std::string::npos) // any file may be called that: the lock decides
				areas[start] = path;
			else if (const Where where = in_file({std::uint64_t{major} << 32 | minor, inode}, path))
				pointers.push_back(start + *where);
		}
		for (const std::uint64_t pointer : pointers)
			wake(pid, pointer, areas);
		return text.size() < max_map_bytes;
	}

private:
	Where in_file(std::pair<std::uint64_t, std::uint64_t> file, const std::string &path)
	{
		const auto known = files_.find(file);
		return known != files_.end() ? known->second : files_[file] = find_in_file(path);
	}

	std::map<std::pair<std::uint64_t, std::uint64_t>, Where> files_; // by device and inode
};

} // namespace

struct UserSearch::Progress {
	std::uint64_t next, all, missed; // processes
};

UserSearch::UserSearch(const record::User &user)
    : shared_(::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	      sizeof(Progress))
{
	if (shared_.data() == MAP_FAILED)
		throw Error(errno, "cannot look for running programs");
	reinterpret_cast<Progress *>(shared_.data())->all = 1; // until they are counted
	pid_ = start_helper(
	    {}, [&] { record::drop_privileges(user, record::capabilities_to_read_processes()); },
	    [this] { supervise(*reinterpret_cast<Progress *>(shared_.data())); });
	if (pid_ < 0)
		throw Error(errno, "cannot look for running programs");
	pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

std::uint64_t UserSearch::missed() const
{
	const auto *progress = reinterpret_cast<const Progress *>(shared_.data());
	const std::uint64_t next = __atomic_load_n(&progress->next, __ATOMIC_RELAXED);
	const std::uint64_t all = __atomic_load_n(&progress->all, __ATOMIC_RELAXED);
	return __atomic_load_n(&progress->missed, __ATOMIC_RELAXED) + (next < all ? all - next : 0);
}

// If the search hangs at a process, its searcher is abandoned after a second, and another one continues with the next
// process.
void UserSearch::supervise(Progress &progress)
{
	const std::vector<pid_t> pids = record::numbers_in("/proc");
	const auto end = Clock::now() + all_seconds;
	progress.all = pids.size();
	for (int status = 1; status != 0;) {
		const pid_t supervisor = ::getpid(), child = ::fork();
		if (child == 0) {
			become_helper(supervisor);
			look_through(progress, pids, end);
			::_exit(0);
		}
		if (child < 0 || ::waitpid(child, &status, 0) < 0)
			break;
		if (status != 0) {
			++progress.missed;
			++progress.next;
		}
	}
	::_exit(0);
}

void UserSearch::look_through(Progress &progress, const std::vector<pid_t> &pids, Clock::time_point end)
{
	Search search;
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	::signal(SIGALRM, SIG_DFL);
	::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
	for (; progress.next < pids.size() && Clock::now() < end; ++progress.next) {
		::alarm(process_seconds);
		progress.missed += !search.wake_cards_of(pids[progress.next]);
	}
}

} // namespace monitor::card
