// SPDX-License-Identifier: MIT
#include "user_card.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/encoding.h"
#include "base/error.h"
#include "user_socket.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_callers = 64; // connections without a request so far; also limits pending answers
constexpr std::uint32_t max_classes_at_once = 1000;
constexpr auto describe_interval = 180ms; // programs wait 200 ms for an answer
constexpr auto describe_burst = 1s;       // unused budget of the previous second
// Polling interval if programs' events can fire triggers, which causes no wake-up.
constexpr std::chrono::nanoseconds trigger_interval = 10ms;
constexpr auto accept_pause = 100ms; // after a caller could not be accepted

// The losses that a caller reports when it stops waiting.
std::optional<std::uint64_t> farewells_of(const Fd &caller)
{
	std::optional<std::uint64_t> untrusted_lost;
	edc_farewell farewell;
	while (::recv(caller.get(), &farewell, sizeof farewell, MSG_DONTWAIT) == sizeof farewell &&
	       farewell.magic == EDC_USER_MAGIC && farewell.request == EDC_FAREWELL)
		untrusted_lost = untrusted_lost.value_or(0) + farewell.lost;
	return untrusted_lost;
}

} // namespace

UserCard::UserCard(const UserCardOptions &options)
    : options_(options), other_recorder_(options.everyone ? recorder_of_all_programs() : 0),
      name_("monitor-edc-" + random_hex(96)),
      module_(options.device && !other_recorder_ ? UserModule::open() : nullptr), stop_(::eventfd(0, EFD_CLOEXEC)),
      new_classes_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), classes_(module_.get(), options.counters.size()),
      processes_(options_, module_.get()), functions_(options.functions, classes_), filter_(options.make_matcher),
      drain_(
	  processes_, classes_, functions_, filter_, [this] { learn_classes(); }, [this] { notify_arrival(); })
{
	if (!stop_ || !new_classes_)
		throw Error(errno, "cannot serve instrumented programs");
	listeners_.push_back(listen_on(name_));
	if (options_.everyone && !other_recorder_)
		listeners_.push_back(listen_for_everyone());
}

void UserCard::start(std::uint64_t ticks_per_second, std::size_t free_descriptors,
		     std::function<void(const std::vector<UserClass> &)> on_class)
{
	on_class_ = std::move(on_class);
	{
		const std::lock_guard guard(lock_);
		drain_.start(ticks_per_second);
		classes_.set_described(classes_.all().size());
		processes_.start(free_descriptors > 3 * max_callers ? free_descriptors - 3 * max_callers : 0);
	}
	thread_ = std::thread([this] { serve_until_stopped(); });
}

// If memory runs out, the caller that must_wait for an answer is dropped, and serving resumes a moment later.
void UserCard::serve_until_stopped()
{
	constexpr int moment_ms = 10;
	for (pollfd stop{stop_.get(), POLLIN, 0}; !stop.revents; ::poll(&stop, 1, moment_ms)) {
		try {
			serve();
			return;
		} catch (const std::exception &) {
			const std::lock_guard guard(lock_);
			processes_.refuse();
		}
	}
}

void UserCard::stop()
{
	if (!thread_.joinable())
		return;
	::eventfd_write(stop_.get(), 1);
	thread_.join();
	drain_.stop();
	listeners_.clear();
	answers_.clear();
	const std::lock_guard guard(lock_);
	processes_.notify_over();
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
			 {new_classes_.get(), POLLIN, 0},
			 {module_ ? module_->fd() : -1, POLLIN, 0}};
		const std::size_t first_listener = polls.size();
		const bool accepts = Clock::now() >= listen_at_ && answers_.size() < max_callers;
		for (const Fd &listener : listeners_)
			polls.push_back({accepts ? listener.get() : -1, POLLIN, 0});
		const std::size_t first_caller = polls.size();
		for (const Fd &caller : callers_)
			polls.push_back({caller.get(), POLLIN, 0});
		const std::size_t first_process = polls.size();
		{
			const std::lock_guard guard(lock_);
			processes_.add_polls(polls);
		}
		if (::poll(polls.data(), polls.size(), wait_ms()) < 0 && errno != EINTR)
			return;
		if (polls[0].revents)
			return;
		if (polls[1].revents) {
			eventfd_t times;
			::eventfd_read(new_classes_.get(), &times);
			undescribed_ = true;
		}
		if (polls[2].revents) {
			const std::lock_guard guard(lock_);
			processes_.adopt_arrived();
			notify_arrival();
		}
		{
			const std::lock_guard guard(lock_);
			processes_.note_ended(std::span(polls).subspan(first_process));
		}
		for (std::size_t i = first_process; i-- > first_caller;) {
			if (!polls[i].revents)
				continue;
			const auto caller = callers_.begin() + static_cast<std::ptrdiff_t>(i - first_caller);
			answer_request(std::move(*caller));
			callers_.erase(caller);
		}
		for (std::size_t i = first_listener; i < first_caller; ++i)
			if (polls[i].revents)
				accept_caller(polls[i].fd);
		if (undescribed_ && Clock::now() >= describe_at_)
			describe();
	}
}

void UserCard::accept_caller(int listener)
{
	Fd caller(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (!caller && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
		listen_at_ = Clock::now() + accept_pause; // pending callers keep waiting
	if (callers_.size() >= max_callers)               // drop the one that has been silent longest
		callers_.erase(callers_.begin());
	if (caller)
		callers_.push_back(std::move(caller));
}

// Classes are described before any of their events can be in the trace: the declaring process gets its answer
// afterwards. The interval limits how often the description is rewritten.
void UserCard::describe()
{
	undescribed_ = false;
	describe_at_ = std::max(describe_at_, Clock::now() - describe_burst) + describe_interval;
	const std::vector<UserClass> known = classes();
	const auto matcher = filter_.filters() ? filter_.make(known) : nullptr;
	on_class_(known);
	{
		const std::lock_guard guard(lock_);
		if (filter_.filters() && classes_.all().size() == known.size())
			filter_.set(matcher); // else learn_classes() added more meanwhile
		classes_.set_described(known.size());
		if (filter_.triggers().has_inputs())
			notify_arrival(); // wake the drain thread, which then polls often
	}
	for (const Answer &answer : answers_)
		send_answer(answer.caller.get(), answer.welcome, answer.ids, answer.memory.get());
	answers_.clear();
}

// A process sends its request; it gets one answer or is ignored from then on.
void UserCard::answer_request(Fd caller)
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
	    (!options_.is_trusted(who.uid) && !options_.everyone) || hello.magic != EDC_USER_MAGIC ||
	    hello.classes > max_classes_at_once)
		return;
	const std::optional<std::uint64_t> untrusted_lost = farewells_of(caller);
	Answer answer{std::move(caller), {}, {}, {}};
	answer.welcome.magic = EDC_USER_MAGIC;
	bool must_wait = false;
	{
		const std::lock_guard guard(lock_);
		const std::string_view texts(packet.data() + sizeof hello,
					     static_cast<std::size_t>(length) - sizeof hello);
		answer.ids = classes_.ids_of(texts, hello.classes, {who.pid, who.uid, options_.is_trusted(who.uid)});
		answer.welcome.classes = static_cast<std::uint32_t>(answer.ids.size());
		must_wait = classes_.has_undescribed(answer.ids);
		constexpr std::uint32_t blocks_shift = EDC_HELLO_BLOCKS_SHIFT;
		if ((hello.request & ((1u << blocks_shift) - 1)) == EDC_HELLO_AREA)
			answer.memory = processes_.give_area(who, answer.welcome, hello.request >> blocks_shift,
							     untrusted_lost || hello.text_bytes & EDC_HELLO_COUNTED);
		if (untrusted_lost)
			processes_.add_losses(who.pid, *untrusted_lost);
		if (answer.memory)
			notify_arrival();
	}
	if (must_wait) {
		undescribed_ = true;
		answers_.push_back(std::move(answer));
	} else {
		send_answer(answer.caller.get(), answer.welcome, answer.ids, answer.memory.get());
	}
}

void UserCard::notify_arrival() const
{
	if (on_arrival_)
		on_arrival_();
}

unsigned UserCard::drain(bool last, const MakeStream &make_stream, const Push &push, const Push &show)
{
	unsigned worst = 0;
	std::vector<ProgramFiring> fired;
	{
		const std::lock_guard guard(lock_);
		worst = drain_.pass(last, make_stream, push, show);
		filter_.triggers().step(drain_.complete_before());
		fired = filter_.triggers().take_fired();
	}
	if (!fired.empty() && on_fired_)
		on_fired_(fired);
	return worst;
}

std::chrono::nanoseconds UserCard::longest_wait() const
{
	const std::lock_guard guard(lock_);
	const auto of_wakeups = drain_.longest_wait();
	return filter_.triggers().has_inputs() ? std::min(of_wakeups, trigger_interval) : of_wakeups;
}

// In drain().
void UserCard::learn_classes()
{
	if (!classes_.learn())
		return;
	if (filter_.filters()) // their events follow
		filter_.set(filter_.make(classes_.all()));
	::eventfd_write(new_classes_.get(), 1);
}

bool UserCard::all_taken() const
{
	const std::lock_guard guard(lock_);
	return processes_.all_done() && drain_.is_empty();
}

std::vector<edc_task> UserCard::take_arrived()
{
	const std::lock_guard guard(lock_);
	return processes_.take_arrived();
}

std::vector<std::uint64_t> UserCard::function_events() const
{
	const std::lock_guard guard(lock_);
	return functions_.events();
}

void UserCard::leave_out_function(std::size_t number)
{
	const std::lock_guard guard(lock_);
	functions_.leave_out(number);
}

std::vector<UserClass> UserCard::classes() const
{
	const std::lock_guard guard(lock_);
	return classes_.all();
}

UserCounts UserCard::counts() const
{
	const std::lock_guard guard(lock_);
	UserCounts now = processes_.counts();
	drain_.add_counts(now);
	classes_.add_counts(now);
	for (const auto &[id, count] : filter_.rejected()) {
		now.filtered_by_class.push_back({id, count});
		now.filtered += count;
	}
	now.missed_until = filter_.triggers().missed_until();
	now.forgotten = filter_.triggers().forgotten();
	now.matched.assign(filter_.counts().begin(), filter_.counts().end());
	return now;
}

} // namespace monitor::card
