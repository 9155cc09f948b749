// SPDX-License-Identifier: MIT
#include "stack_recorder.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/error.h"
#include "monitor/card.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::stacks {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_vdso_bytes = 64 << 10;
constexpr auto max_first_read = 2s;      // for reading the mappings of all processes at first
constexpr int ended_check_ms = 500;      // interval of checking for ended processes
constexpr int publish_ms = 5;            // interval of retrying to publish
constexpr auto reread_interval = 1s;     // minimum interval of re-reading one list
constexpr auto max_last_reports = 500ms; // for the last reports
constexpr auto wakeup_window = 100ms;
constexpr unsigned max_wakeups = 400; // in a window, at once: for as many programs as a shell starts
constexpr auto wakeup_interval = 2ms; // of further ones; the kernel's rings last longer

// For default samples: polls less often while the command does not run.
constexpr int busy_poll_ms = 20, quiet_poll_ms = 100;
constexpr auto max_pause = 1s; // longest pause of a busy thread, and before it starts
constexpr std::uint64_t free_table_ns = 10'000'000, table_share = 200; // plus a 200th of the command's CPU time

std::string read_rest(int fd, std::size_t max_bytes)
{
	std::string text;
	char part[16 << 10];
	for (ssize_t n;
	     text.size() < max_bytes && (n = ::read(fd, part, std::min(sizeof part, max_bytes - text.size()))) > 0;)
		text.append(part, static_cast<std::size_t>(n));
	return text;
}

// Parses a line of /proc/PID/maps; false: not code.
bool parse_line(const std::string &line, Change &change)
{
	unsigned major = 0, minor = 0;
	char rights[5] = "";
	int path = 0;
	if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &change.start, &change.end, rights,
			&change.offset, &major, &minor, &change.inode, &path) != 7 ||
	    rights[2] != 'x')
		return false;
	change.device = std::uint64_t{major} << 32 | minor;
	change.path = line.substr(std::min(static_cast<std::size_t>(path), line.size()));
	if (change.path.empty())
		change.path = "//anon";
	return true;
}

std::vector<std::byte> own_vdso()
{
	std::istringstream maps(read_text("/proc/self/maps"));
	for (std::string line; std::getline(maps, line);) {
		Change change;
		if (!parse_line(line, change) || change.path != "[vdso]" || change.end - change.start > max_vdso_bytes)
			continue;
		const auto *bytes = reinterpret_cast<const std::byte *>(change.start);
		return {bytes, bytes + (change.end - change.start)};
	}
	return {};
}

// A key for a mapped file and its version; includes the modification, because files can be rewritten.
std::string key_of(const Change &change, bool is_local)
{
	struct stat status;
	timespec written{};
	if (is_local && ::stat(change.path.c_str(), &status) == 0 && status.st_ino == change.inode)
		written = status.st_mtim;
	return fmt::format("{:x}:{}:{}:{}.{}:{}", change.device, change.inode, change.generation, written.tv_sec,
			   written.tv_nsec, change.path);
}

// The process's user; nobody if it has ended or is hidden.
std::uint32_t user_of(std::int32_t process)
{
	struct stat status {};
	return ::stat(fmt::format("/proc/{}", process).c_str(), &status) == 0 ? status.st_uid : ~0u;
}

Fd create(const std::string &path)
{
	return open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

} // namespace

Urgency::Urgency(bool is_urgent) : nice_before_(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())))
{
	if (is_urgent)
		::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), -20);
}

Urgency::~Urgency()
{
	::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice_before_);
}

StackRecorder::StackRecorder(UnwindMemory memory, SampledCommand sampled, unsigned cpus, const record::User &user)
    : memory_(std::move(memory)), sampled_(std::move(sampled)),
      kallsyms_(sampled_.wanted ? -1 : ::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC)),
      side_band_(cpus, sampled_.wanted ? SideBand::late : SideBand::at_once), urgency_(std::in_place, !sampled_.wanted),
      opener_(user), spaces_(memory_.mappings, memory_.spaces, memory_.set_space, user_of),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!wakeup_)
		throw Error(errno, "cannot wake the thread that follows mappings");
}

void StackRecorder::start(const std::string &directory)
{
	directory_ = directory;
	files_ = std::make_unique<CodeFiles>(memory_.rows, create(directory + "/files"));
	const std::vector<std::byte> vdso = own_vdso();
	write_all(create(directory + "/vdso").get(), vdso, "vdso");
	files_->add("[vdso]", "[vdso]", ElfImage::open(std::span(vdso)), {});
	if (!sampled_.wanted) {
		write_kernel_symbols(directory);
		read_processes();
	}
	thread_ = std::thread([this] {
		try {
			sampled_.wanted ? run_sampled() : run();
		} catch (const Error &) { // disk full, reported by the writer
		}
	});
	urgency_.reset();
}

void StackRecorder::stop()
{
	if (!thread_.joinable())
		return;
	stopping_.store(true, std::memory_order_release);
	::eventfd_write(wakeup_.get(), 1);
	thread_.join();
	kept_.write_unreachable(directory_ + "/code");
}

void StackRecorder::follow(unsigned cpu, Fd events)
{
	side_band_.add(cpu, std::move(events));
	::eventfd_write(wakeup_.get(), 1);
}

// Writes the kernel's function symbols: "address name" or "address name [module]".
void StackRecorder::write_kernel_symbols(const std::string &directory)
{
	const Fd list = create(directory + "/kallsyms");
	std::string rest, functions;
	for (std::string part; kallsyms_ && !(part = read_rest(kallsyms_.get(), 1 << 20)).empty();) {
		rest += part;
		const std::size_t end = rest.rfind('\n') + 1; // the last line continues in the next part
		std::istringstream lines(rest.substr(0, end));
		rest.erase(0, end);
		for (std::string line; std::getline(lines, line);) {
			const std::size_t type = line.find(' ') + 1;
			if (type == 0 || type >= line.size() || !std::strchr("tTwW", line[type]))
				continue;
			std::ranges::replace(line, '\t', ' ');
			functions += line.substr(0, type) + line.substr(std::min(type + 2, line.size())) + "\n";
		}
		write_all(list.get(), std::as_bytes(std::span(functions)), "kallsyms");
		functions.clear();
	}
	kallsyms_.reset();
}

void StackRecorder::read_processes()
{
	const auto end = AddressSpaces::Clock::now() + max_first_read;
	for (const int process : record::numbers_in("/proc"))
		if (AddressSpaces::Clock::now() < end)
			read_maps(process, 0);
	for (const Change &change : side_band_.take())
		apply(change);
	publish();
}

// `monotonic_ns`: of the list, 0: before the recording.
void StackRecorder::read_maps(std::int32_t process, std::uint64_t monotonic_ns)
{
	const Fd maps = opener_.maps(process);
	if (!maps)
		return;
	std::istringstream lines(read_rest(maps.get(), Opener::max_maps_bytes));
	for (std::string line; std::getline(lines, line);) {
		Change change;
		change.process = process;
		change.monotonic_ns = monotonic_ns;
		if (parse_line(line, change))
			add_mapping(change);
	}
}

// Re-reads overflowing lists, and all lists after changes were lost.
void StackRecorder::reread_lists()
{
	if (side_band_.lost() != std::exchange(lost_, side_band_.lost())) {
		for (const std::int32_t process : spaces_.known_processes())
			stale_.insert(process);
		histories_.clear();
	}
	const auto now = AddressSpaces::Clock::now();
	if (stale_.empty() || now < read_again_at_)
		return;
	read_again_at_ = now + reread_interval;
	for (const std::int32_t process : std::exchange(stale_, {})) {
		if (stopping_.load(std::memory_order_acquire))
			return;
		const std::uint64_t read_at = clock_ns(CLOCK_MONOTONIC);
		spaces_.on_executed(process, read_at); // drops earlier mappings
		add_change({EDC_MAPPING_EXEC, process, 0, 0, read_at, 0, 0, 0});
		read_maps(process, read_at);
		if (stale_.erase(process)) // still too many: incomplete
			add_without_room(user_of(process), &WithoutRoom::mappings);
		++lists_read_again_;
		pause();
	}
}

// While it pauses, the kernel's rings may overflow.
void StackRecorder::pause()
{
	const auto wait = share_.pause_at(CpuShare::Duration(clock_ns(CLOCK_MONOTONIC)),
					  CpuShare::Duration(clock_ns(CLOCK_THREAD_CPUTIME_ID)));
	if (wait.count() == 0)
		return;
	paused_ns_ += static_cast<std::uint64_t>(wait.count());
	pollfd wakeup{wakeup_.get(), POLLIN, 0};
	::poll(&wakeup, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()));
}

std::vector<pollfd> StackRecorder::fds_to_poll() const
{
	std::vector<pollfd> fds{{wakeup_.get(), POLLIN, 0}};
	for (const int fd : side_band_.fds())
		fds.push_back({fd, POLLIN, 0});
	return fds;
}

void StackRecorder::run()
{
	std::vector<pollfd> fds = fds_to_poll();
	auto window = AddressSpaces::Clock::now();
	for (unsigned wakeups = 0; !stopping_.load(std::memory_order_acquire); ++wakeups) {
		if (AddressSpaces::Clock::now() - window >= wakeup_window) {
			window = AddressSpaces::Clock::now();
			wakeups = 0;
		}
		if (wakeups >= max_wakeups) // batch changes instead of a wake-up for each
			std::this_thread::sleep_for(wakeup_interval);
		::poll(fds.data(), fds.size(),
		       spaces_.has_unpublished()          ? publish_ms
		       : ended_.empty() && stale_.empty() ? -1
							  : ended_check_ms);
		eventfd_t value;
		const bool follows_more = fds.front().revents && ::eventfd_read(wakeup_.get(), &value) == 0;
		for (const Change &change : side_band_.take()) {
			apply(change);
			pause();
			if (stopping_.load(std::memory_order_acquire))
				break;
		}
		if (follows_more)
			fds = fds_to_poll();
		reread_lists();
		publish();
		note_lost_opener();
		forget_ended();
	}
	const auto end = AddressSpaces::Clock::now() + max_last_reports;
	for (const Change &change : side_band_.take()) {
		if (AddressSpaces::Clock::now() >= end)
			break;
		apply(change);
	}
	note_lost_opener();
}

void StackRecorder::run_sampled()
{
	std::vector<pollfd> fds = fds_to_poll();
	auto last_run = AddressSpaces::Clock::now();
	for (std::uint64_t cpu_ns = 0; !stopping_.load(std::memory_order_acquire);) {
		const auto now = AddressSpaces::Clock::now();
		if (const std::uint64_t before_ns = std::exchange(cpu_ns, sampled_.cpu_ns()); cpu_ns != before_ns)
			last_run = now;
		::poll(fds.data(), fds.size(), now - last_run < max_pause ? busy_poll_ms : quiet_poll_ms);
		eventfd_t value;
		if (fds.front().revents && ::eventfd_read(wakeup_.get(), &value) == 0)
			fds = fds_to_poll();
		publish_sampled_processes();
		files_->make_tables(free_table_ns + sampled_.cpu_ns() / table_share, [this](const CodeFile &file) {
			spaces_.set_rows(file.number, file.first_row, file.rows);
		});
		reread_lists();
		publish();
		note_lost_opener();
		forget_ended();
	}
	publish_sampled_processes();
	note_lost_opener();
}

// Publishes sampled processes with all changes so far; they may have ended since.
void StackRecorder::publish_sampled_processes()
{
	for (Change &change : side_band_.take()) {
		if (!sampled_.includes(change.process))
			continue;
		if (change.kind == Change::Kind::ended) {
			ended_.push_back(change.process);
			continue;
		}
		if (change.kind == Change::Kind::created) { // the PID may be reused
			if (published_.erase(change.process))
				spaces_.on_ended(change.process);
			std::erase(ended_, change.process);
		} else if (published_.contains(change.process)) {
			apply(change);
			pause();
		}
		histories_.add(std::move(change));
	}
	const std::uint64_t count = __atomic_load_n(&sampled_.wanted->count, __ATOMIC_ACQUIRE);
	wanted_seen_ = std::max(wanted_seen_, count - std::min<std::uint64_t>(count, EDC_UNWIND_WANTED));
	for (; wanted_seen_ < count; ++wanted_seen_)
		if (const auto process =
			static_cast<std::int32_t>(sampled_.wanted->process[wanted_seen_ % EDC_UNWIND_WANTED]);
		    published_.insert(process).second)
			publish_sampled(process);
}

void StackRecorder::publish_sampled(std::int32_t process)
{
	const std::vector<Change> changes = histories_.changes_of(process);
	for (const Change &change : changes)
		apply(change);
	if (changes.empty()) // its main thread has ended, or changes were lost
		read_maps(process, 0);
	pause();
}

void StackRecorder::publish()
{
	spaces_.publish(AddressSpaces::Clock::now());
	for (const std::uint32_t user : spaces_.take_refused())
		add_without_room(user, &WithoutRoom::mappings);
	for (const std::uint32_t user : files_->take_refused())
		add_without_room(user, &WithoutRoom::tables);
}

// In the list of files for readers of a running recording.
void StackRecorder::add_without_room(std::uint32_t user, std::uint64_t WithoutRoom::*what)
{
	without_room_[user].user = user;
	if (without_room_[user].*what == 0)
		files_->add_without_room(user, what == &WithoutRoom::mappings ? "mappings" : "tables");
	++(without_room_[user].*what);
}

void StackRecorder::note_lost_opener()
{
	if (opener_.is_lost() && !std::exchange(opener_lost_, true))
		files_->add_lost_opener();
}

// A process ends with its last thread, not with its main thread.
void StackRecorder::forget_ended()
{
	const auto now = AddressSpaces::Clock::now();
	if (now < forget_at_)
		return;
	forget_at_ = now + std::chrono::milliseconds(ended_check_ms);
	std::erase_if(ended_, [&](std::int32_t process) {
		if (::access(fmt::format("/proc/{}", process).c_str(), F_OK) == 0)
			return false;
		histories_.add({.kind = Change::Kind::ended, .process = process});
		if (published_.erase(process) || !sampled_.wanted)
			spaces_.on_ended(process);
		return true;
	});
}

void StackRecorder::apply(const Change &change)
{
	switch (change.kind) {
	case Change::Kind::mapped:
		return add_mapping(change);
	case Change::Kind::executed:
		spaces_.on_executed(change.process, change.monotonic_ns);
		return add_change({EDC_MAPPING_EXEC, change.process, 0, 0, change.monotonic_ns, 0, 0, 0});
	case Change::Kind::created:
		if (!spaces_.knows(change.parent))
			return;
		std::erase(ended_, change.process); // the PID was reused
		spaces_.on_created(change.process, change.parent, change.monotonic_ns);
		return add_change({EDC_MAPPING_COPIED, change.process, change.parent, 0, change.monotonic_ns, 0, 0, 0});
	case Change::Kind::ended:
		ended_.push_back(change.process);
	}
}

void StackRecorder::add_mapping(const Change &change)
{
	CodeMapping mapping{change.start, change.end, 0, 0, 0, change.monotonic_ns};
	const CodeFile *file = file_of(change);
	if (file) {
		mapping.bias = bias_of(*file, change.start, change.end, change.offset);
		mapping.first_row = file->first_row;
		mapping.rows = file->rows;
		mapping.file = file->number;
	}
	if (!spaces_.on_mapped(change.process, mapping)) {
		stale_.insert(change.process);
		return;
	}
	add_change({EDC_MAPPING_ADDED, change.process, 0, file ? file->number : 0, change.monotonic_ns, change.start,
		    change.end, change.offset});
}

// Another file may be mapped there by now. (The inode seen by a process may differ from the mapping's: overlayfs before
// Linux 6.8.)
bool StackRecorder::is_still_mapped(const Change &change)
{
	const Fd maps = opener_.maps(change.process);
	std::istringstream lines(maps ? read_rest(maps.get(), Opener::max_maps_bytes) : "");
	for (std::string line; std::getline(lines, line);) {
		Change now;
		if (parse_line(line, now) && now.start == change.start && now.end == change.end)
			return now.inode == change.inode && now.device == change.device && now.path == change.path;
	}
	return false;
}

// Opens a mapped file: through the mapping, by its path in the process, or if the process has ended, by its path here;
// verifies that it is the same file.
OpenedFile StackRecorder::open_file_of(const Change &change)
{
	OpenedFile opened = opener_.mapped_file(change.process, change.start, change.end);
	if (opened.fd && (opened.inode == change.inode || is_still_mapped(change)))
		return opened;
	for (const std::int32_t process : {change.process, 0}) {
		if (opened.took_too_long)
			break;
		opened = opener_.file(process, change.path);
		if (opened.fd && opened.inode == change.inode)
			return opened;
	}
	opened.fd.reset();
	return opened;
}

const CodeFile *StackRecorder::file_of(const Change &change)
{
	const std::string &path = change.path;
	if (path == "[vdso]")
		return files_->find(path);
	if (path.empty() || path[0] != '/' || path.starts_with("//")) {
		if (path != "[vsyscall]")
			note_number_inside(change.process);
		return nullptr; // not file-backed
	}
	if (hung_devices_.contains(change.device))
		return nullptr;
	const std::string key = key_of(change, local_devices_.contains(change.device));
	if (const CodeFile *known = files_->find(key))
		return known;
	OpenedFile opened = open_file_of(change);
	if (opened.took_too_long)
		hung_devices_.insert(change.device);
	if (opened.fd && opened.is_local)
		local_devices_.insert(change.device);
	const std::optional<ElfImage> image = opened.fd ? ElfImage::open(opened.fd.get()) : std::nullopt;
	if (!image)
		return files_->add(key, path, {}, {});
	// Copies of a file, as in containers, count as one if build id, size and time agree.
	const FileVersion version{opened.size, opened.modified_ns};
	const std::string id = image->build_id();
	const std::string same = id.empty() ? key : fmt::format("{}:{}:{:x}", id, opened.size, image->entry());
	CodeFile *known = files_->find(same);
	Fd deferred(sampled_.wanted ? ::fcntl(opened.fd.get(), F_DUPFD_CLOEXEC, 0) : -1);
	CodeFile *file =
	    known ? known : files_->add(same, path, image, version, user_of(change.process), std::move(deferred));
	if (file)
		files_->add_key(key, *file);
	if (file && !known && opened.is_local && !sampled_.wanted)
		kept_.add(file->number, path, std::move(opened.fd));
	return file;
}

// A JIT in a pid namespace names its map file by its number there.
void StackRecorder::note_number_inside(std::int32_t process)
{
	constexpr std::size_t max_noted = 4096;
	if (noted_inside_.size() >= max_noted || !noted_inside_.insert(process).second)
		return;
	const std::string numbers = record::numbers_of(fmt::format("/proc/{}/status", process));
	if (const int inside = std::atoi(numbers.c_str() + numbers.rfind('\t') + 1); inside > 0 && inside != process)
		files_->add_process(process, inside);
}

void StackRecorder::add_change(const MappingChange &change)
{
	const std::lock_guard lock(mutex_);
	changes_.push_back(change);
}

std::vector<MappingChange> StackRecorder::take_changes()
{
	const std::lock_guard lock(mutex_);
	return std::exchange(changes_, {});
}

UnwindCounts StackRecorder::counts() const
{
	UnwindCounts counts{files_->size(),     files_->unread(),    files_->rows(),         files_->without_room(),
			    files_->build_ns(), spaces_.processes(), spaces_.without_room(), side_band_.lost(),
			    lists_read_again_,  paused_ns_,          opener_lost_,           {}};
	for (const auto &[user, of] : without_room_)
		counts.without_room.push_back(of);
	return counts;
}

} // namespace monitor::stacks
