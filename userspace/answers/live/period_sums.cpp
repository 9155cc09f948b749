// SPDX-License-Identifier: MIT
#include "period_sums.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace monitor::live {
namespace {

void merge(PeriodSums::Sums &sums, const PeriodSums::Sums &other)
{
	sums.count += other.count;
	sums.failed += other.failed;
	sums.total += other.total;
	sums.longest = std::max(sums.longest, other.longest);
	sums.lengths.merge(other.lengths);
	sums.transfers.count += other.transfers.count;
	sums.transfers.total += other.transfers.total;
	sums.transfers.longest = std::max(sums.transfers.longest, other.transfers.longest);
}

} // namespace

std::size_t PeriodSums::KeyHash::operator()(const WaitKey &key) const
{
	static_assert(sizeof(PeriodKey) == sizeof(std::uint64_t));
	std::uint64_t owner, waker;
	std::memcpy(&owner, &key.owner, sizeof owner);
	std::memcpy(&waker, &key.waker, sizeof waker);
	std::uint64_t hash = 0;
	for (const std::uint64_t part : {owner, waker, static_cast<std::uint64_t>(key.irq) << 32 | key.call})
		hash = (hash ^ part) * 0x9e3779b97f4a7c15ull ^ hash >> 29;
	return (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9ull;
}

PeriodSums::PeriodSums(const analyze::ThreadFold &fold, activities::Tracker *tracker) : fold_(fold)
{
	if (tracker) {
		activities_.emplace(*tracker);
		tracker->add(*this);
	}
	clear();
}

void PeriodSums::forget_recent()
{
	recent_calls_.fill({});
	recent_sleeps_.fill({});
}

void PeriodSums::clear()
{
	forget_recent();
	calls_.clear();
	sleeps_.clear();
	if (activities_)
		activities_->clear();
	ended_indices_.clear();
	ended_.assign(1, {});
	for (auto &[thread, woken] : woken_)
		if (woken.sleep.waker.is_ended()) // it has no sum in this period
			woken.sleep.waker = PeriodKey::ended(other);
}

// Beyond the limit a key is one of `other`; for calls, number and time are kept.
PeriodSums::Sums &PeriodSums::sums_of(AllSums &all, const WaitKey &key)
{
	if (const auto found = all.find(key); found != all.end())
		return found->second;
	return all[all.size() < max_sums ? key : WaitKey{PeriodKey::ended(other), {}, key.call, EDC_NO_IRQ}];
}

PeriodSums::Sums &PeriodSums::sums_of(AllSums &all, AllRecent &recent, const WaitKey &key)
{
	const auto address = reinterpret_cast<std::uintptr_t>(key.owner.thread());
	Recent &slot = recent[(address / sizeof(analyze::Thread) + key.call) % std::tuple_size_v<AllRecent>];
	if (!slot.sums || slot.key != key)
		slot = {key, &sums_of(all, key)};
	return *slot.sums;
}

void PeriodSums::add_time(Sums &sums, std::uint64_t ticks)
{
	++sums.count;
	sums.total += ticks;
	sums.longest = std::max(sums.longest, ticks);
	sums.lengths.add(ticks);
}

void PeriodSums::system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin,
			     std::uint64_t end, std::int64_t result)
{
	settle();
	Sums &sums = sums_of(calls_, recent_calls_, {PeriodKey(fold_.leader(thread)), {}, number, EDC_NO_IRQ});
	sums.failed += analyze::has_failed(result);
	add_time(sums, end - begin);
}

void PeriodSums::refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t, std::int64_t result)
{
	settle();
	Sums &sums = sums_of(calls_, recent_calls_, {PeriodKey(fold_.leader(thread)), {}, call, EDC_NO_IRQ});
	++sums.count;
	sums.failed += analyze::has_failed(result);
}

void PeriodSums::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
			 const analyze::Waker &waker)
{
	settle();
	const bool is_in_call = !analyze::is_stop(thread.syscall); // the sums' events have no value for a stop
	const std::uint32_t call = is_in_call ? thread.syscall : EDC_NO_SYSCALL;
	WaitKey key{PeriodKey(thread), {}, call, EDC_NO_IRQ};
	if (waker.interrupt >= 0)
		key.irq = static_cast<std::uint32_t>(waker.interrupt) << 16 | waker.number;
	else if (waker.thread)
		key.waker = PeriodKey(fold_.leader(*waker.thread));
	add_time(sums_of(sleeps_, recent_sleeps_, key), to - from);
	woken_.insert_or_assign(&thread, Woken{key, to});
}

void PeriodSums::got_cpu(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to)
{
	settle();
	const auto found = woken_.find(&thread);
	if (found == woken_.end())
		return;
	const Woken woken = found->second;
	woken_.erase(found);
	if (woken.time != from) // there was a loss in between
		return;
	Sums::Transfers &transfers = sums_of(sleeps_, woken.sleep).transfers;
	++transfers.count;
	transfers.total += to - from;
	transfers.longest = std::max(transfers.longest, to - from);
}

void PeriodSums::finished(const activities::Finished &activity)
{
	if (activity.source != activities::ActivitySource::program)
		return;
	settle();
	activities_->add(PeriodKey(fold_.leader(activity.thread)), activity);
}

std::size_t PeriodSums::ended_index(const analyze::Thread &thread, std::uint64_t cgroup)
{
	const std::string &command = fold_.leader(thread).name;
	auto found = ended_indices_.find({command, cgroup});
	if (found == ended_indices_.end() && ended_.size() <= max_ended) {
		found = ended_indices_.emplace(std::pair(command, cgroup), ended_.size()).first;
		ended_.push_back({command, cgroup, thread.in_tree, thread.is_kernel, thread.filtered, {}});
	}
	return found == ended_indices_.end() ? other : found->second;
}

// Its calls and sleeps belong to its last cgroup.
void PeriodSums::forgotten(const analyze::Thread &thread)
{
	std::size_t to = other;
	fold_.visit_cgroups(thread, [&](std::uint64_t cgroup, const analyze::Usage &usage) {
		to = ended_index(thread, cgroup);
		ended_[to].usage += usage;
	});
	removed_.emplace(&thread, to);
	woken_.erase(&thread);
}

PeriodKey PeriodSums::current(PeriodKey key) const
{
	const auto removed = removed_.find(key.thread());
	return removed == removed_.end() ? key : PeriodKey::ended(removed->second);
}

PeriodSums::WaitKey PeriodSums::current(const WaitKey &key) const
{
	return {current(key.owner), current(key.waker), key.call, key.irq};
}

void PeriodSums::replace_owners(AllSums &all) const
{
	std::vector<std::pair<WaitKey, Sums>> replaced;
	for (auto each = all.begin(); each != all.end();) {
		const auto &[key, sums] = *each;
		const WaitKey replacing = current(key);
		if (replacing == key) {
			++each;
			continue;
		}
		replaced.emplace_back(replacing, std::move(each->second));
		each = all.erase(each);
	}
	for (const auto &[key, sums] : replaced)
		merge(all[key], sums);
}

void PeriodSums::settle()
{
	if (removed_.empty())
		return;
	forget_recent();
	replace_owners(calls_);
	replace_owners(sleeps_);
	for (auto &[thread, woken] : woken_)
		woken.sleep = current(woken.sleep);
	if (activities_)
		activities_->replace_owners([this](PeriodKey key) { return current(key); });
	removed_.clear();
}

} // namespace monitor::live
