// SPDX-License-Identifier: MIT
#include "player.h"

#include <algorithm>

#include "reading/analyze/scheduling.h"

namespace monitor::play {
namespace {

using Item = trace::Cursor::Item;

} // namespace

Player::Player(trace::Trace &trace, const analyze::RecordingInfo &info, std::uint64_t spacing_events)
    : trace_(trace), info_(info), checkpoints_(spacing_events)
{
	restart(nullptr);
	analyze::expect_window(begin(), end());
	recorded_ = analyze::recorded(trace, info, fold_->kinds());
	time_ = search_from_ = begin();
}

std::uint64_t Player::find_known(std::uint64_t max_events)
{
	const auto is_known = [&](const analyze::Cpu &cpu) { return now_on(*fold_, cpu).tid >= 0; };
	std::uint64_t known_at = begin();
	std::ptrdiff_t max_known = 0;
	for (; max_events && item_ != Item::end && pull_->time() <= end(); --max_events) {
		fold_item();
		item_ = pull_->next();
		const std::ptrdiff_t known = std::ranges::count_if(fold_->cpus(), is_known);
		if (folded_to_ < begin() || known <= max_known)
			continue;
		max_known = known;
		known_at = folded_to_;
		if (known == std::ssize(fold_->cpus()))
			break;
	}
	return known_at;
}

// Null: from the start of the trace.
void Player::restart(const Checkpoint *checkpoint)
{
	if (checkpoint) {
		fold_ = checkpoint->fold->copy();
		placement_ = std::make_unique<Placement>(checkpoint->placement);
		recent_ = std::make_unique<Recent>(checkpoint->recent);
	} else {
		fold_ = std::make_unique<analyze::ThreadFold>(trace_, info_);
		placement_ = std::make_unique<Placement>(trace_.description());
		recent_ = std::make_unique<Recent>();
	}
	recent_->watch(*fold_, *placement_);
	since_checkpoint_ = 0;
	pull_from(checkpoint ? checkpoint->time : 0);
}

void Player::pull_from(std::uint64_t time)
{
	pull_ =
	    std::make_unique<trace::Pull>(trace_, trace::TimeRange{time}, [](const trace::Stream &) { return true; });
	item_ = pull_->next();
	while (item_ == Item::gap && pull_->time() < time) // it began earlier, and is in the checkpoint
		item_ = pull_->next();
	folded_to_ = time > 0 ? time - 1 : 0;
}

// Starts from the checkpoint, or the current position, that is nearest before `time`.
void Player::start_from(std::uint64_t time)
{
	const Checkpoint *checkpoint = checkpoints_.before(time);
	const bool is_ahead = folded_to_ > time;
	if (is_ahead || (checkpoint && checkpoint->time > folded_to_))
		restart(checkpoint);
}

void Player::go_to(std::uint64_t time, std::uint64_t step_ticks, unsigned past)
{
	target_ = std::clamp(time, begin(), end());
	step_ = std::max<std::uint64_t>(step_ticks, 1);
	const std::uint64_t steps = std::min<std::uint64_t>(past - 1, (target_ - begin()) / step_);
	next_sample_ = target_ - steps * step_;
	past_.clear();
	start_from(next_sample_);
	state_ = State::moving;
}

void Player::step_forwards()
{
	if (state_ != State::idle)
		return;
	target_ = end() - time_ < step_ ? end() : time_ + step_;
	next_sample_ = target_;
	state_ = State::moving;
}

void Player::find_next(std::optional<std::int32_t> tid)
{
	cancel();
	wanted_ = tid;
	has_found_ = has_found_none_ = false;
	state_ = State::finding_next;
}

void Player::find_previous(std::optional<std::int32_t> tid)
{
	cancel();
	wanted_ = tid;
	has_found_ = has_found_none_ = false;
	search_to_ = time_;
	state_ = State::finding_previous;
	restart_search();
}

// Searches from the last checkpoint before the searched range up to that range.
void Player::restart_search()
{
	const Checkpoint *checkpoint = search_to_ > 0 ? checkpoints_.before(search_to_ - 1) : nullptr;
	search_from_ = checkpoint ? checkpoint->time : 0;
	restart(checkpoint);
}

void Player::cancel()
{
	if (state_ == State::idle)
		return;
	state_ = State::idle;
	time_ = std::clamp(folded_to_, begin(), end());
	while (item_ != Item::end && pull_->time() <= time_) { // at the same time, or before the recording's start
		fold_item();
		item_ = pull_->next();
	}
	pass_to(time_);
	past_.clear();
	sample();
}

double Player::progress() const
{
	const std::uint64_t at = std::clamp(folded_to_, begin(), end());
	return static_cast<double>(at - begin()) / static_cast<double>(end() - begin());
}

// Whether the current item is about the wanted thread.
bool Player::is_wanted() const
{
	const trace::Event &event = pull_->event();
	if (event.is_control() || event.stream->is_recorder())
		return false;
	if (!wanted_ || placement_->is_about(event, *wanted_))
		return true;
	if (event.stream->is_user())
		return !recent_->posted().empty() && recent_->posted().back().time == event.time &&
		       recent_->posted().back().by.tid == *wanted_;
	const std::vector<analyze::Cpu> &cpus = fold_->cpus();
	return event.cpu() < cpus.size() && cpus[event.cpu()].current && cpus[event.cpu()].current->tid == *wanted_;
}

void Player::fold_item()
{
	const std::uint64_t time = pull_->time();
	if (time > folded_to_ && checkpoints_.is_due(since_checkpoint_, time)) {
		fold_->pass(time - 1);
		checkpoints_.add(time, *fold_, *placement_, *recent_);
		since_checkpoint_ = 0;
	}
	if (item_ == Item::gap) {
		fold_->gap(pull_->stream(), pull_->gap().from_time, pull_->gap().to_time);
	} else {
		placement_->event(pull_->event());
		fold_->event(pull_->event());
	}
	folded_to_ = std::max(folded_to_, time);
	++since_checkpoint_;
}

// Folds up to the time of a sample.
void Player::pass_to(std::uint64_t time)
{
	fold_->pass(time);
	folded_to_ = std::max(folded_to_, time);
}

void Player::sample()
{
	past_.resize(fold_->cpus().size());
	for (std::size_t cpu = 0; cpu < past_.size(); ++cpu) {
		std::vector<PastStep> &past = past_[cpu];
		if (past.size() == past_steps)
			past.erase(past.begin());
		past.push_back(now_on(*fold_, fold_->cpus()[cpu]));
	}
}

// Folds one item, or ends a step. False: the target is reached.
bool Player::step_moving()
{
	if (item_ != Item::end && pull_->time() <= next_sample_) {
		fold_item();
		item_ = pull_->next();
		return true;
	}
	pass_to(next_sample_);
	sample();
	if (next_sample_ == target_) {
		time_ = target_;
		return false;
	}
	next_sample_ = target_ - next_sample_ < step_ ? target_ : next_sample_ + step_;
	return true;
}

// Folds one item. False: the search is over.
bool Player::step_finding()
{
	const bool is_forwards = state_ == State::finding_next;
	if (item_ == Item::end || pull_->time() > end() || (!is_forwards && pull_->time() >= search_to_))
		return false;
	const std::uint64_t time = pull_->time();
	const bool is_within = time >= begin() && (!is_forwards || time > time_);
	const bool is_event = item_ == Item::event;
	bool is_match = is_within && is_event && is_wanted();
	fold_item();
	is_match = is_match || (is_within && is_event && is_wanted());
	item_ = pull_->next();
	if (is_match) {
		has_found_ = true;
		found_at_ = time;
	}
	return !(is_forwards && is_match);
}

void Player::end_search()
{
	if (has_found_)
		return go_to(found_at_, step_);
	if (state_ == State::finding_previous && search_from_ > begin()) {
		search_to_ = search_from_;
		return restart_search();
	}
	has_found_none_ = true;
	go_to(time_, step_);
}

bool Player::work(std::uint64_t events)
{
	for (std::uint64_t i = 0; i < events && state_ != State::idle; ++i) {
		if (state_ == State::moving) {
			if (!step_moving())
				state_ = State::idle;
		} else if (!step_finding()) {
			end_search();
		}
	}
	return state_ == State::idle;
}

Scene Player::scene() const
{
	Scene scene = scene_of(*fold_, *placement_, *recent_, time_);
	scene.step = step_;
	for (std::size_t cpu = 0; cpu < std::min(past_.size(), scene.cpus.size()); ++cpu)
		scene.cpus[cpu].past = past_[cpu];
	scene.wakings_are_known = recorded_.wakings;
	return scene;
}

} // namespace monitor::play
