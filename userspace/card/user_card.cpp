// SPDX-License-Identifier: MIT
#include "user_card.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tsc.h"
#include "user_area.h"
#include "user_processes.h"
#include "user_socket.h"

namespace monitor::card {
namespace {

constexpr std::size_t most_callers = 64; // that have connected and not yet said what they want
constexpr std::uint32_t most_classes_at_once = 1000;
constexpr std::size_t most_classes_of_a_process = 512; // that no other process declared before

std::string random_name()
{
	std::random_device random;
	return fmt::format("monitor-edc-{:08x}{:08x}{:08x}", random(), random(), random());
}

} // namespace

std::uint64_t user_ring_bytes(std::size_t processes)
{
	constexpr std::uint64_t kib = 1024;
	return processes < 8      ? 4096 * kib
	       : processes < 32   ? 1024 * kib
	       : processes < 128  ? 256 * kib
	       : processes < 1024 ? 64 * kib
				  : 0;
}

UserCard::UserCard(const UserCardOptions &options)
    : options_(options), name_(random_name()), device_(options.device ? UserDevice::open() : nullptr),
      stop_(::eventfd(0, EFD_CLOEXEC)), described_late_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      classes_(device_ ? UserClasses([this](auto name, auto fields) { return device_->id_of(name, fields); })
		       : UserClasses())
{
	listeners_.push_back(listen_on(name_));
	if (options_.everyone)
		listeners_.push_back(listen_for_everyone());
	merged_.resize(options_.cpus);
	words_.fill(unknown_class);
	words_[EDC_ID_THREAD] = 1;
	if (!options_.counters.empty())
		words_[EDC_ID_USER_COUNTERS] = static_cast<std::uint8_t>(options_.counters.size());
	device_words_ = words_;
}

UserCard::~UserCard()
{
	stop();
}

void UserCard::start(std::uint64_t ticks_per_second, std::function<void(const std::vector<UserClass> &)> on_class)
{
	ticks_per_second_ = ticks_per_second;
	on_class_ = std::move(on_class);
	{
		const std::lock_guard guard(lock_);
		began_ = last_look_ = read_tsc();
		adopt_arrived();
		started_ = true;
	}
	thread_ = std::thread([this] { serve(); });
}

void UserCard::stop()
{
	if (!thread_.joinable())
		return;
	::eventfd_write(stop_.get(), 1);
	thread_.join();
	listeners_.clear();
	const std::lock_guard guard(lock_);
	for (const auto &process : processes_)
		if (!process->by_device)
			__atomic_store_n(&process->shared().over, 1, __ATOMIC_RELEASE);
}

void UserCard::serve()
{
	std::vector<Fd> callers;
	std::vector<pollfd> polls;
	for (;;) {
		polls = {{stop_.get(), POLLIN, 0},
			 {described_late_.get(), POLLIN, 0},
			 {device_ ? device_->fd() : -1, POLLIN, 0}};
		const std::size_t first_listener = polls.size();
		for (const Fd &listener : listeners_)
			polls.push_back({listener.get(), POLLIN, 0});
		const std::size_t first_caller = polls.size();
		for (const Fd &caller : callers)
			polls.push_back({caller.get(), POLLIN, 0});
		const std::size_t first_process = polls.size();
		{
			const std::lock_guard guard(lock_);
			for (const auto &process : processes_)
				if (!process->ended)
					polls.push_back({process->pidfd.get(), POLLIN, 0});
		}
		if (::poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents)
			return;
		if (polls[1].revents)
			describe_late();
		if (polls[2].revents) {
			const std::lock_guard guard(lock_);
			adopt_arrived();
			if (on_arrival_)
				on_arrival_();
		}
		for (std::size_t i = first_process; i < polls.size(); ++i) {
			const std::lock_guard guard(lock_);
			for (const auto &process : processes_)
				if (polls[i].revents && process->pidfd.get() == polls[i].fd)
					process->ended = true;
		}
		for (std::size_t i = first_process; i-- > first_caller;) {
			if (!polls[i].revents)
				continue;
			greet(polls[i].fd);
			callers.erase(callers.begin() + static_cast<std::ptrdiff_t>(i - first_caller));
		}
		for (std::size_t i = first_listener; i < first_caller; ++i) {
			if (!polls[i].revents)
				continue;
			Fd caller(::accept4(polls[i].fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
			if (callers.size() >= most_callers) // the one that has been silent longest goes
				callers.erase(callers.begin());
			if (caller)
				callers.push_back(std::move(caller));
		}
	}
}

std::vector<std::uint16_t> UserCard::ids_of(pid_t pid, const char *texts, std::size_t bytes, std::uint32_t classes)
{
	const auto known = classes_of_.find(pid);
	const std::size_t added_before = known == classes_of_.end() ? 0 : known->second;
	const std::size_t known_before = classes_.all().size();
	std::vector<std::uint16_t> ids;
	const char *at = texts, *end = texts + bytes;
	const auto next = [&]() -> std::string_view {
		const char *stop = static_cast<const char *>(std::memchr(at, 0, static_cast<std::size_t>(end - at)));
		const std::string_view text(at, static_cast<std::size_t>((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
		return text;
	};
	while (ids.size() < classes && at < end) {
		const std::string_view name = next();
		const std::size_t added = added_before + classes_.all().size() - known_before;
		ids.push_back(classes_.id_of(name, next(), added < most_classes_of_a_process));
	}
	add_words(known_before);
	if (classes_.all().size() != known_before) // so the table has no more entries than there are classes
		classes_of_[pid] = added_before + classes_.all().size() - known_before;
	return ids;
}

void UserCard::add_words(std::size_t known_before)
{
	for (std::size_t i = known_before; i < classes_.all().size(); ++i)
		words_[classes_.all()[i].id] = device_words_[classes_.all()[i].id] =
		    static_cast<std::uint8_t>(classes_.all()[i].payload.size());
}

void UserCard::Process::lay_out(unsigned cpus, std::uint64_t ring_blocks, const std::array<std::uint8_t, 16> &uuid,
				std::uint64_t since)
{
	const std::uint64_t each = (1 + ring_blocks) * EDC_BLOCK_SIZE;
	const auto ring_at = [&](unsigned number) {
		return reinterpret_cast<edc_user_ring *>(area.data() + EDC_BLOCK_SIZE + number * each);
	};
	blocks = ring_blocks;
	one_thread = has_other_numbers(pid);
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		Ring added;
		added.shared = ring_at(cpu);
		added.facts.uuid = uuid;
		added.facts.cpu = cpu;
		added.facts.process = static_cast<std::uint32_t>(pid);
		added.facts.one_thread = one_thread;
		added.facts.last_time = since - future_ticks;
		rings.push_back(added);
	}
	shared_ring.emplace(ring_at(cpus), blocks, since);
}

// The sealed memory of a process: neither side can change its size. Returns a descriptor to hand over, or -1.
int UserCard::make_area(Process &process)
{
	const std::uint64_t ring = user_ring_bytes(processes_.size());
	if (ring == 0)
		return -1;
	const std::uint64_t each = ring + EDC_BLOCK_SIZE, size = EDC_BLOCK_SIZE + each * (options_.cpus + 1);
	Fd memory(::memfd_create("monitor-edc", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(size)) < 0 ||
	    ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -1;
	void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
	if (address == MAP_FAILED)
		return -1;
	process.area = Mapping(address, size);
	process.shared().magic = EDC_USER_MAGIC;
	process.shared().counters = static_cast<std::uint32_t>(options_.counters.size());
	std::ranges::copy(options_.counters, process.shared().counter);
	std::memcpy(&process.shared().key, options_.uuid.data(), sizeof process.shared().key);
	process.lay_out(options_.cpus, ring / EDC_BLOCK_SIZE, options_.uuid, read_tsc());
	return memory.release();
}

// A process says what it wants; it gets an answer at once or is not heard again.
void UserCard::greet(int fd)
{
	std::vector<char> packet(EDC_HELLO_BYTES + sizeof(edc_hello));
	const ssize_t length = ::recv(fd, packet.data(), packet.size(), MSG_DONTWAIT);
	edc_hello hello;
	if (length < static_cast<ssize_t>(sizeof hello))
		return;
	std::memcpy(&hello, packet.data(), sizeof hello);
	ucred who{};
	socklen_t size = sizeof who;
	if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 ||
	    (who.uid != options_.user && who.uid != 0 && !options_.everyone) || hello.magic != EDC_USER_MAGIC ||
	    hello.classes > most_classes_at_once)
		return;
	edc_welcome welcome{};
	welcome.magic = EDC_USER_MAGIC;
	Fd memory;
	std::vector<std::uint16_t> ids;
	std::vector<UserClass> known;
	{
		const std::lock_guard guard(lock_);
		const std::size_t before = classes_.all().size();
		ids = ids_of(who.pid, packet.data() + sizeof hello, static_cast<std::size_t>(length) - sizeof hello,
			     hello.classes);
		if (classes_.all().size() != before)
			known = classes_.all();
		if (hello.wish == EDC_HELLO_AREA) {
			auto process = std::make_unique<Process>();
			process->pid = who.pid;
			process->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0)));
			process->merged = (counts_.processes + 1) * options_.cpus > most_own_streams;
			if (!process->merged)
				process->card = ++cards_[who.pid];
			memory = Fd(process->pidfd ? make_area(*process) : -1);
			if (memory) {
				welcome.rings = options_.cpus;
				welcome.area_bytes = process->area.size();
				welcome.blocks = static_cast<std::uint32_t>(process->blocks);
				welcome.ring_bytes = (process->blocks + 1) * EDC_BLOCK_SIZE;
				++counts_.processes;
				if (options_.name_processes)
					arrived_.push_back(describe_process(who.pid));
				processes_.push_back(std::move(process));
				live_ = processes_.size();
				if (on_arrival_)
					on_arrival_();
			} else if (process->pidfd) { // else it is gone already
				++counts_.refused;
			}
		}
	}
	if (!known.empty())
		on_class_(known); // before any event of theirs can be in the trace
	welcome.classes = static_cast<std::uint32_t>(ids.size());
	send_answer(fd, welcome, ids, memory.get());
}

std::vector<edc_task> UserCard::take_arrived()
{
	const std::lock_guard guard(lock_);
	return std::exchange(arrived_, {});
}

bool UserCard::all_taken() const
{
	const std::lock_guard guard(lock_);
	return std::ranges::all_of(processes_,
				   [](const auto &process) {
					   return process->shared_done &&
						  std::ranges::all_of(process->rings, &Ring::done);
				   }) &&
	       std::ranges::all_of(merged_, [](const auto &stream) { return !stream || stream->empty(); }) &&
	       (!shared_ || shared_->empty());
}

std::vector<UserClass> UserCard::classes() const
{
	const std::lock_guard guard(lock_);
	return classes_.all();
}

UserCounts UserCard::counts() const
{
	const std::lock_guard guard(lock_);
	UserCounts now = counts_;
	for (const auto &process : processes_)
		add_counts(*process, now);
	if (device_)
		now.refused += device_->refused();
	now.classes = classes_.all().size();
	now.classes_refused = classes_.refused();
	now.why_refused = classes_.why_refused();
	return now;
}

} // namespace monitor::card
