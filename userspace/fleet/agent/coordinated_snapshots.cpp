// SPDX-License-Identifier: MIT
#include "coordinated_snapshots.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "base/clock_ns.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "fleet/wire/names.h"

namespace monitor::agent {
namespace {

constexpr std::size_t max_received = 64, max_flight_bytes = 64 << 10, max_reply_text = 4096, max_undelivered = 64,
		      max_known_hosts = 1024, max_known_numbers = 64;
constexpr std::uint64_t max_age_ns = 2'000'000'000; // of a trigger that fired before this process started
constexpr std::chrono::nanoseconds connection_timeout(max_age_ns);

fleet::SnapshotNews news_of(const std::string &run, const record::BegunSnapshot &snapshot)
{
	fleet::SnapshotNews news;
	news.run = run;
	news.number = snapshot.number;
	news.trigger = snapshot.trigger;
	news.time = snapshot.time;
	news.realtime_ns = snapshot.realtime_ns;
	news.frozen_time = snapshot.frozen_time;
	news.frozen_ns = snapshot.frozen_ns;
	return news;
}

// The snapshot in progress that the request joined, if any.
std::optional<record::BegunSnapshot> joined_snapshot(const nlohmann::json &untrusted_reply)
{
	const auto number = number_field(untrusted_reply, "joined"), time = number_field(untrusted_reply, "time"),
		   realtime = number_field(untrusted_reply, "realtime_ns"),
		   frozen_time = number_field(untrusted_reply, "frozen_time"),
		   frozen = number_field(untrusted_reply, "frozen_ns");
	if (!number || !time || !realtime || !frozen_time || !frozen)
		return {};
	record::BegunSnapshot snapshot;
	snapshot.number = static_cast<unsigned>(*number);
	snapshot.time = *time;
	snapshot.realtime_ns = *realtime;
	snapshot.frozen_time = *frozen_time;
	snapshot.frozen_ns = *frozen;
	return snapshot;
}

} // namespace

std::string cause_text(const std::string &host, const fleet::SnapshotNews &news)
{
	return fmt::format("{} of host {} (snapshot {} there)",
			   news.trigger.empty() ? "a trigger" : "the trigger " + news.trigger, host,
			   fleet::snapshot_name(news.number));
}

CoordinatedSnapshots::CoordinatedSnapshots(std::string host, std::string runs_directory,
					   std::function<bool(std::string_view, const std::string &)> publish,
					   std::function<void(const std::string &)> report)
    : host_(std::move(host)), runs_directory_(std::move(runs_directory)), publish_(std::move(publish)),
      report_(std::move(report)), inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!inotify_ || !wakeup_)
		throw Error(errno, "cannot watch for snapshots");
}

void CoordinatedSnapshots::set_runs(const std::vector<CoordinatedRun> &runs)
{
	std::set<std::string> named;
	for (const CoordinatedRun &permitted : runs) {
		named.insert(permitted.run);
		const auto [run, is_new] =
		    runs_.try_emplace(permitted.run, Run{permitted, -1, 0, CoordinatedLimits(permitted.snapshots), {}});
		if (is_new)
			watch(run->second);
	}
	std::erase_if(runs_, [&](const auto &entry) {
		const bool is_over = !named.contains(entry.first);
		if (is_over && entry.second.watch >= 0)
			::inotify_rm_watch(inotify_.get(), entry.second.watch);
		return is_over;
	});
	publish_fired(Clock::now());
}

// Snapshots from before this process started are published only if recent: its predecessor published older ones. Other
// hosts recognise a duplicate by its number.
void CoordinatedSnapshots::watch(Run &run)
{
	const std::string directory = runs_directory_ + '/' + run.permitted.run + "/.monitor";
	run.watch = ::inotify_add_watch(inotify_.get(), directory.c_str(), IN_MOVED_TO | IN_ONLYDIR);
	if (run.watch < 0)
		report_(fmt::format("run {}: other hosts do not learn of triggers here: {} cannot be watched",
				    run.permitted.run, directory));
	const std::uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	for (const record::BegunSnapshot &each : new_snapshots(run))
		run.last_handled = each.realtime_ns + max_age_ns < now_ns ? each.number : run.last_handled;
	scan(run);
}

std::vector<record::BegunSnapshot> CoordinatedSnapshots::new_snapshots(Run &run) const
{
	const std::string path = runs_directory_ + '/' + run.permitted.run + "/.monitor/flight.json";
	std::vector<record::BegunSnapshot> begun = record::parse_begun_snapshots(read_text(path, max_flight_bytes + 1));
	std::erase_if(begun, [&](const record::BegunSnapshot &each) { return each.number <= run.last_handled; });
	return begun;
}

void CoordinatedSnapshots::scan(Run &run)
{
	for (const record::BegunSnapshot &each : new_snapshots(run)) {
		run.last_handled = each.number;
		if (each.by == record::SnapshotRequest::By::trigger && undelivered_.size() < max_undelivered)
			undelivered_.push_back(
			    {fleet::snapshot_news_text(news_of(run.permitted.run, each)),
			     fmt::format("run {}: other hosts do not learn that {} fired: there is no connection",
					 run.permitted.run, each.why),
			     {}});
		if (run.pending && each.why == run.pending->why)
			publish_froze(run, each);
	}
}

// Retries for a moment if there is no connection, as after a start; later the message would be useless.
void CoordinatedSnapshots::publish_fired(Clock::time_point now)
{
	while (!undelivered_.empty() && publish_("fired", undelivered_.front().text))
		undelivered_.pop_front();
	for (Undelivered &each : undelivered_)
		each.since = each.since.value_or(now);
	for (; !undelivered_.empty() && now - *undelivered_.front().since > connection_timeout;
	     undelivered_.pop_front())
		report_(undelivered_.front().sentence);
}

void CoordinatedSnapshots::publish_froze(const Run &run, const record::BegunSnapshot &snapshot)
{
	fleet::SnapshotNews news = news_of(run.permitted.run, snapshot);
	news.trigger = run.pending->cause.news.trigger;
	news.cause_host = run.pending->cause.host;
	news.cause_number = run.pending->cause.news.number;
	publish_("froze", fleet::snapshot_news_text(news));
}

void CoordinatedSnapshots::receive(std::string_view untrusted_subject, std::string_view untrusted_text)
{
	const auto subject = fleet::parse_subject(untrusted_subject);
	if (!subject || subject->kind != "fired" || subject->host == host_)
		return;
	{
		const std::lock_guard lock(mutex_);
		if (!rate_limit_.use(subject->host, SenderRateLimit::Clock::now()))
			return;
	}
	auto news = fleet::parse_snapshot_news(untrusted_text);
	if (!news || !news->cause_host.empty())
		return;
	{
		const std::lock_guard lock(mutex_);
		if (received_.size() >= max_received)
			return;
		received_.push_back({subject->host, std::move(*news)});
	}
	::eventfd_write(wakeup_.get(), 1);
}

void CoordinatedSnapshots::add_fds(std::vector<pollfd> &to) const
{
	to.push_back({wakeup_.get(), POLLIN, 0});
	to.push_back({inotify_.get(), POLLIN, 0});
	for (const auto &[name, run] : runs_)
		if (run.pending)
			to.push_back({run.pending->question.fd(), POLLIN, 0});
}

void CoordinatedSnapshots::step(Clock::time_point now)
{
	try {
		handle_received(now);
		read_changes();
		handle_replies();
		publish_fired(now);
	} catch (const Error &error) { // such as no free descriptor: the next step may succeed
		report_(error.what());
	}
}

void CoordinatedSnapshots::handle_received(Clock::time_point now)
{
	eventfd_t wakeups;
	::eventfd_read(wakeup_.get(), &wakeups);
	std::deque<RemoteFiring> received;
	std::vector<std::string> sentences;
	{
		const std::lock_guard lock(mutex_);
		received.swap(received_);
		sentences = rate_limit_.take_messages(now);
	}
	for (const std::string &sentence : sentences)
		report_(sentence);
	for (const RemoteFiring &each : received)
		if (const auto run = runs_.find(each.news.run); run != runs_.end())
			ask(run->second, each);
}

void CoordinatedSnapshots::ask(Run &run, const RemoteFiring &firing)
{
	if (run.known_firings.size() >= max_known_hosts && !run.known_firings.contains(firing.host))
		run.known_firings.clear();
	std::set<std::uint64_t> &numbers = run.known_firings[firing.host];
	if (!numbers.insert(firing.news.number).second)
		return; // a duplicate
	if (numbers.size() > max_known_numbers)
		numbers.erase(numbers.begin());
	const std::string cause = cause_text(firing.host, firing.news);
	std::string why_not =
	    run.pending ? "the one before is being taken" : run.limits.use(CoordinatedLimits::Clock::now());
	if (why_not.empty()) {
		record::SnapshotRequest request;
		request.why = cause;
		request.trigger = firing.news.trigger;
		request.joins = true;
		try {
			run.pending.emplace(
			    PendingRequest{firing, cause, record::SnapshotQuestion(run.permitted.recorder, request)});
			return;
		} catch (const Error &error) {
			why_not = error.what();
		}
	}
	report_(fmt::format("run {}: no snapshot for {}: {}", run.permitted.run, cause, why_not));
}

void CoordinatedSnapshots::read_changes()
{
	alignas(inotify_event) char events[4096];
	ssize_t n;
	std::set<int> changed;
	bool has_overflowed = false;
	while ((n = ::read(inotify_.get(), events, sizeof events)) > 0)
		for (const char *at = events; at < events + n;) {
			const auto *const event = reinterpret_cast<const inotify_event *>(at);
			changed.insert(event->wd);
			has_overflowed |= (event->mask & IN_Q_OVERFLOW) != 0;
			at += sizeof *event + event->len;
		}
	for (auto &[name, run] : runs_)
		if (has_overflowed || changed.contains(run.watch))
			scan(run);
}

void CoordinatedSnapshots::handle_replies()
{
	for (auto &[name, run] : runs_) {
		const auto text = run.pending ? run.pending->question.take() : std::nullopt;
		if (!text)
			continue;
		scan(run); // the snapshot started before the reply
		const nlohmann::json reply = parse_json(*text);
		if (const auto joined = joined_snapshot(reply))
			publish_froze(run, *joined);
		else if (const auto error = text_field(reply, "error", max_reply_text); error || text->empty())
			report_(fmt::format("run {}: no snapshot for {}: {}", name, run.pending->why,
					    error.value_or("the flight recorder has ended")));
		run.pending.reset();
	}
}

} // namespace monitor::agent
