// SPDX-License-Identifier: MIT
#include "trial_card.h"

#include <array>
#include <chrono>
#include <cstring>
#include <unordered_set>

#include <sys/resource.h>
#include <unistd.h>

#include "recording/calibration/preflight.h"
#include "recording/card/classes.h"
#include "recording/card/preflight_checks.h"
#include "recording/rings/class_counts.h"

namespace monitor::pilot {
namespace {

using namespace std::chrono_literals;

constexpr unsigned first_slope_ms = 5;
constexpr auto trial_pass_interval = 2ms;
constexpr int reader_nice = -10;

} // namespace

TrialCard::TrialCard(const card::CardOptions &options)
    : card_(options), steering_(card_.clock(), card::has_invariant_tsc())
{
	steering_.start(record::read_sync(card::has_invariant_tsc()), first_slope_ms);
	tp_ = card::preflight(card_).tp;
	if (options.suspending)
		card_.prepare_task_lists(0);
}

TrialCard::~TrialCard()
{
	detach();
}

card::Calibration TrialCard::calibrate()
{
	return card::calibrate(card_, {tp_, card_.options().filtering, false, &steering_});
}

void TrialCard::attach(pid_t process)
{
	card_.reset();
	steering_.renew();
	if (process)
		card_.select({process});
	card_.attach(tp_);
	reader_ = std::jthread([this](const std::stop_token &stop) {
		::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), reader_nice); // as a drain thread
		while (!stop.stop_requested()) {
			empty_rings();
			std::this_thread::sleep_for(trial_pass_interval);
		}
	});
}

void TrialCard::detach()
{
	if (!reader_.joinable())
		return;
	card_.detach();
	reader_ = {};
}

void TrialCard::empty_rings()
{
	alignas(64) static std::array<std::byte, EDC_BLOCK_SIZE> copy;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
		for (unsigned level = 0; level < card_.rings(); ++level) {
			edc_cpu &area = card_.area(cpu);
			const edc_ring &ring = area.level[level].ring;
			const std::uint64_t closed = __atomic_load_n(&ring.closed, __ATOMIC_ACQUIRE);
			for (__u64 &read = area.reader.read[level]; read < closed;) {
				std::memcpy(copy.data(),
					    card_.memory(cpu) + ring.first + read % ring.blocks * EDC_BLOCK_SIZE,
					    copy.size());
				__atomic_store_n(&read, read + 1, __ATOMIC_RELEASE);
			}
		}
}

EventCounts TrialCard::events() const
{
	record::ClassCountReader reader(card_);
	const record::CountsByClass &counts = reader.read();
	EventCounts by_family;
	for (const card::ClassRow &row : card::kernel_classes())
		if (const std::uint64_t number = counts.number[row.id - EDC_ID_KERNEL_FIRST])
			by_family[row.family] += number;
	return by_family;
}

std::uint64_t TrialCard::lost() const
{
	std::uint64_t sum = 0;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
		for (unsigned level = 0; level < card_.rings(); ++level)
			sum += card_.area(cpu).level[level].ring.discarded;
	return sum;
}

record::TreeProgress TrialCard::progress(pid_t root) const
{
	std::unordered_set<std::int32_t> threads;
	return record::read_progress(card_, root, threads);
}

} // namespace monitor::pilot
