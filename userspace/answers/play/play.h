// SPDX-License-Identifier: MIT
// An interactive animation: handles keys and the passing of time, and draws frames. Shown by answers/terminal/screen.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/terminal/screen.h"
#include "picture.h"
#include "player.h"
#include "speed.h"

namespace monitor::play {

using terminal::Cells;
using terminal::KeyPress;

class Play final : public terminal::InteractiveView {
public:
	// `view`: its constant parts, such as clock and layout, which must outlive it, as must the player. Starts
	// paused, at this time.
	Play(Player &player, View view, Speed speed, std::uint64_t time, bool is_utf8);

	bool press(const KeyPress &key) override;
	bool tick() override;
	// Handles some events.
	bool work() override;
	bool is_working() const override { return player_.is_working(); }
	bool is_still() const override { return is_paused_; }
	Cells draw(unsigned rows, unsigned columns) override;

private:
	static constexpr std::uint64_t events_at_once = 20000;

	bool press_character(char32_t character);
	void press_in_search(const KeyPress &key);
	void set_speed(Speed speed);
	void step_back();
	void find(bool is_forwards);
	void move_mark(int by);
	void scroll(int by);
	void mark_next(const std::string &wanted);
	void update_scene();
	std::string note() const;
	Cells draw_help(unsigned rows, unsigned columns) const;

	Player &player_;
	View view_;
	Speed speed_;
	bool is_utf8_, is_paused_ = true, is_late_ = false, has_help_ = false, is_searching_ = false,
		       has_cpu_focus_ = false;
	Scene scene_;                            // of the last completed move
	std::string typed_, searched_, message_; // searched_: the last entered search
	unsigned cpus_shown_ = 1;
	std::vector<std::int32_t> threads_shown_;
	bool was_finding_ = false;
};

} // namespace monitor::play
