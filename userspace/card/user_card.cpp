// SPDX-License-Identifier: MIT
#include "user_card.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tsc.h"
#include "user_area.h"
#include "user_memory.h"
#include "user_processes.h"
#include "user_socket.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_processes = 1024; // with rings from the recorder at a time
constexpr std::size_t max_callers = 64;     // that have connected and sent no request yet; also of waiting answers
constexpr std::uint32_t max_classes_at_once = 1000;
constexpr std::size_t max_areas_of_a_process = 64;     // one for each library with its own card, and exec
constexpr std::ptrdiff_t large_areas_of_a_process = 8; // the others have the smallest rings
constexpr std::size_t max_areas_of_a_user = 128;       // for users other than root and the recording's
constexpr auto describe_interval = 180ms;              // programs wait 200 ms for an answer
constexpr auto describe_burst = 1s;                    // what was not used of the previous second may be used
constexpr auto deaf_time = 100ms;                      // after a caller could not be accepted

std::string random_name()
{
	std::random_device random;
	return fmt::format("monitor-edc-{:08x}{:08x}{:08x}", random(), random(), random());
}

} // namespace

UserCard::UserCard(const UserCardOptions &options)
    : options_(options), name_(random_name()), module_(options.device ? UserModule::open() : nullptr),
      stop_(::eventfd(0, EFD_CLOEXEC)), described_late_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      classes_(module_ ? UserClasses([this](auto name, auto fields) { return module_->id_of(name, fields); })
		       : UserClasses()),
      bells_([this] {
	      if (on_arrival_)
		      on_arrival_();
      })
{
	if (!stop_ || !described_late_)
		throw Error(errno, "cannot serve instrumented programs");
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

void UserCard::start(std::uint64_t ticks_per_second, std::size_t free_descriptors,
		     std::function<void(const std::vector<UserClass> &)> on_class)
{
	ticks_per_second_ = ticks_per_second;
	max_areas_ = free_descriptors > 3 * max_callers ? free_descriptors - 3 * max_callers : 0;
	on_class_ = std::move(on_class);
	{
		const std::lock_guard guard(lock_);
		described_ = classes_.all().size();
		began_ = last_look_ = read_tsc();
		adopt_arrived();
		started_ = true;
	}
	thread_ = std::thread([this] { serve_always(); });
}

// If memory runs out, the caller that waits for an answer is dropped, and serving resumes a moment later.
void UserCard::serve_always()
{
	constexpr int moment_ms = 10;
	for (pollfd stop{stop_.get(), POLLIN, 0}; !stop.revents; ::poll(&stop, 1, moment_ms)) {
		try {
			serve();
			return;
		} catch (const std::exception &) {
			const std::lock_guard guard(lock_);
			++counts_.refused;
		}
	}
}

void UserCard::stop()
{
	if (!thread_.joinable())
		return;
	::eventfd_write(stop_.get(), 1);
	thread_.join();
	bells_.stop();
	listeners_.clear();
	answers_.clear();
	const std::lock_guard guard(lock_);
	for (const auto &process : processes_)
		if (!process->by_device)
			__atomic_store_n(&process->shared().over, 1, __ATOMIC_RELEASE);
}

// How long poll() may wait; -1: forever.
int UserCard::wait_ms() const
{
	Clock::time_point next = Clock::time_point::max();
	if (undescribed_)
		next = describe_at_;
	if (listen_at_ > Clock::now())
		next = std::min(next, listen_at_);
	if (next == Clock::time_point::max())
		return -1;
	const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
	return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void UserCard::serve()
{
	std::vector<pollfd> polls;
	for (;;) {
		polls = {{stop_.get(), POLLIN, 0},
			 {described_late_.get(), POLLIN, 0},
			 {module_ ? module_->fd() : -1, POLLIN, 0}};
		const std::size_t first_listener = polls.size();
		const bool hears = Clock::now() >= listen_at_ && answers_.size() < max_callers;
		for (const Fd &listener : listeners_)
			polls.push_back({hears ? listener.get() : -1, POLLIN, 0});
		const std::size_t first_caller = polls.size();
		for (const Fd &caller : callers_)
			polls.push_back({caller.get(), POLLIN, 0});
		const std::size_t first_process = polls.size();
		{
			const std::lock_guard guard(lock_);
			for (const auto &process : processes_)
				if (!process->ended)
					polls.push_back({process->pidfd.get(), POLLIN, 0});
		}
		if (::poll(polls.data(), polls.size(), wait_ms()) < 0 && errno != EINTR)
			return;
		if (polls[0].revents)
			return;
		if (polls[1].revents) {
			eventfd_t times;
			::eventfd_read(described_late_.get(), &times);
			undescribed_ = true;
		}
		if (polls[2].revents) {
			const std::lock_guard guard(lock_);
			adopt_arrived();
			if (on_arrival_)
				on_arrival_();
		}
		see_ended(std::span(polls).subspan(first_process));
		for (std::size_t i = first_process; i-- > first_caller;) {
			if (!polls[i].revents)
				continue;
			const auto caller = callers_.begin() + static_cast<std::ptrdiff_t>(i - first_caller);
			greet(std::move(*caller));
			callers_.erase(caller);
		}
		for (std::size_t i = first_listener; i < first_caller; ++i)
			if (polls[i].revents)
				take_caller(polls[i].fd);
		if (undescribed_ && Clock::now() >= describe_at_)
			describe();
	}
}

void UserCard::see_ended(std::span<const pollfd> polls)
{
	const std::lock_guard guard(lock_);
	for (const pollfd &poll : polls)
		for (const auto &process : processes_)
			if (poll.revents && process->pidfd.get() == poll.fd)
				process->ended = true;
}

void UserCard::take_caller(int listener)
{
	Fd caller(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (!caller && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
		listen_at_ = Clock::now() + deaf_time; // callers that wait keep waiting
	if (callers_.size() >= max_callers)            // the one that has been silent longest is dropped
		callers_.erase(callers_.begin());
	if (caller)
		callers_.push_back(std::move(caller));
}

// Classes are described before any event of theirs can be in the trace: the process that declares them gets no answer
// before. A client with ever new classes must not have the whole description written for each: hence the interval.
void UserCard::describe()
{
	undescribed_ = false;
	describe_at_ = std::max(describe_at_, Clock::now() - describe_burst) + describe_interval;
	const std::vector<UserClass> known = classes();
	on_class_(known);
	{
		const std::lock_guard guard(lock_);
		described_ = known.size();
	}
	for (const Answer &answer : answers_)
		send_answer(answer.caller.get(), answer.welcome, answer.ids, answer.memory.get());
	answers_.clear();
}

std::vector<std::uint16_t> UserCard::ids_of(const ucred &who, std::string_view texts, std::uint32_t classes)
{
	const Declarer declarer{who.pid, who.uid, is_trusted(who.uid)};
	const std::size_t known_before = classes_.all().size();
	std::vector<std::uint16_t> ids;
	const auto next = [&] {
		const std::string_view text = texts.substr(0, texts.find('\0'));
		texts.remove_prefix(std::min(text.size() + 1, texts.size()));
		return text;
	};
	while (ids.size() < classes && !texts.empty()) {
		const std::string_view name = next();
		ids.push_back(classes_.id_of(name, next(), declarer));
	}
	add_words(known_before);
	return ids;
}

// Whether one of these is not in the description yet.
bool UserCard::has_undescribed(const std::vector<std::uint16_t> &ids) const
{
	const std::span late = std::span(classes_.all()).subspan(described_);
	return std::ranges::any_of(late, [&](const UserClass &cls) { return std::ranges::count(ids, cls.id) != 0; });
}

void UserCard::add_words(std::size_t known_before)
{
	for (std::size_t i = known_before; i < classes_.all().size(); ++i)
		words_[classes_.all()[i].id] = device_words_[classes_.all()[i].id] =
		    static_cast<std::uint8_t>(classes_.all()[i].words());
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
		added.info.uuid = uuid;
		added.info.cpu = cpu;
		added.info.process = static_cast<std::uint32_t>(pid);
		added.info.one_thread = one_thread;
		added.info.last_time = since - future_ticks;
		rings.push_back(added);
	}
	shared_ring.emplace(ring_at(cpus), blocks, since, [pid = pid, one_thread = one_thread](std::uint32_t tid) {
		return one_thread || has_thread(pid, tid);
	});
}

// An untrusted user gets a quarter of the memory; other users' rings shrink by no more than that. Nor do the many areas
// of one program shrink other programs' rings: libraries may have some of their own, further areas are small.
std::uint64_t UserCard::ring_blocks_for(const Process &asking) const
{
	const auto areas =
	    std::ranges::count_if(processes_, [&asking](const auto &process) { return process->pid == asking.pid; });
	const std::uint64_t ring_bytes = areas < large_areas_of_a_process ? options_.memory.ring_bytes : 0;
	const uid_t user = asking.user;
	if (is_trusted(user))
		return user_ring_blocks({options_.memory.bytes, ring_bytes}, area_bytes_, options_.cpus);
	std::uint64_t used = 0;
	for (const auto &process : processes_)
		used += process->user == user && !process->by_device ? process->area.size() : 0;
	const std::uint64_t blocks = user_ring_blocks({options_.memory.bytes / 4, ring_bytes}, used, options_.cpus);
	return area_bytes_ + user_area_bytes(blocks, options_.cpus) <= options_.memory.bytes ? blocks : 0;
}

// Creates the sealed memory of a process: neither side can change its size. Returns a descriptor to pass on, or -1.
int UserCard::make_area(Process &process)
{
	const std::uint64_t blocks = ring_blocks_for(process);
	if (blocks == 0 || processes_.size() >= max_processes)
		return -1;
	const std::uint64_t size = user_area_bytes(blocks, options_.cpus);
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
	process.lay_out(options_.cpus, blocks, options_.uuid, read_tsc());
	area_bytes_ += size;
	return memory.release();
}

bool UserCard::is_trusted(uid_t user) const
{
	return user == 0 || user == options_.user;
}

// One client must not use up what all need: the recorder's descriptors, and the larger rings.
bool UserCard::may_have_area(const ucred &who) const
{
	const auto count = [&](const auto &is_of) {
		return static_cast<std::size_t>(
		    std::ranges::count_if(processes_, [&](const auto &process) { return is_of(*process); }));
	};
	return processes_.size() < max_areas_ &&
	       count([&](const Process &process) { return process.pid == who.pid; }) < max_areas_of_a_process &&
	       (is_trusted(who.uid) ||
		count([&](const Process &process) { return process.user == who.uid; }) < max_areas_of_a_user);
}

// Gives a process rings; their memory is in the answer. Under the lock.
void UserCard::give_area(const ucred &who, Answer &answer)
{
	if (!may_have_area(who)) {
		++counts_.refused;
		return;
	}
	auto process = std::make_unique<Process>();
	process->pid = who.pid;
	process->user = who.uid;
	process->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0)));
	if (!process->pidfd && (errno == ESRCH || errno == EINVAL))
		return; // it has ended already, EINVAL on older kernels; its parent's card counted its events
	process->merged = (counts_.processes + 1) * options_.cpus > max_own_streams;
	if (!process->merged)
		process->card = ++cards_[who.pid];
	answer.memory = Fd(process->pidfd ? make_area(*process) : -1);
	if (!answer.memory) {
		++counts_.refused;
		return;
	}
	answer.welcome.rings = options_.cpus;
	answer.welcome.area_bytes = process->area.size();
	answer.welcome.blocks = static_cast<std::uint32_t>(process->blocks);
	answer.welcome.ring_bytes = (process->blocks + 1) * EDC_BLOCK_SIZE;
	++counts_.processes;
	if (options_.name_processes)
		arrived_.push_back(describe_process(who.pid));
	processes_.push_back(std::move(process));
	if (on_arrival_)
		on_arrival_();
}

// A process sends its request; it gets one answer or is ignored from then on.
void UserCard::greet(Fd caller)
{
	std::vector<char> packet(EDC_HELLO_BYTES + sizeof(edc_hello));
	const ssize_t length = ::recv(caller.get(), packet.data(), packet.size(), MSG_DONTWAIT);
	edc_hello hello;
	if (length < static_cast<ssize_t>(sizeof hello))
		return;
	std::memcpy(&hello, packet.data(), sizeof hello);
	ucred who{};
	socklen_t size = sizeof who;
	if (::getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 ||
	    (!is_trusted(who.uid) && !options_.everyone) || hello.magic != EDC_USER_MAGIC ||
	    hello.classes > max_classes_at_once)
		return;
	Answer answer{std::move(caller), {}, {}, {}};
	answer.welcome.magic = EDC_USER_MAGIC;
	bool waits = false;
	{
		const std::lock_guard guard(lock_);
		const std::string_view texts(packet.data() + sizeof hello,
					     static_cast<std::size_t>(length) - sizeof hello);
		answer.ids = ids_of(who, texts, hello.classes);
		answer.welcome.classes = static_cast<std::uint32_t>(answer.ids.size());
		waits = has_undescribed(answer.ids);
		if (hello.request == EDC_HELLO_AREA)
			give_area(who, answer);
	}
	if (waits) {
		undescribed_ = true;
		answers_.push_back(std::move(answer));
	} else {
		send_answer(answer.caller.get(), answer.welcome, answer.ids, answer.memory.get());
	}
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
	if (module_)
		now.refused += module_->refused();
	now.classes = classes_.all().size();
	now.classes_refused = classes_.refused();
	now.why_refused = classes_.why_refused();
	return now;
}

} // namespace monitor::card
