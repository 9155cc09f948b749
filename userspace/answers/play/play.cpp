// SPDX-License-Identifier: MIT
#include "play.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/encoding.h"

namespace monitor::play {
namespace {

constexpr const char *keys = "space run  + - speed  left right step  n p event  / find  ? help  q quit";

constexpr const char *help[] = {
    "space        run, or pause",
    "+ -          faster, slower: 1/100 is a hundredth of a second in each second",
    "left right   a step back, a step forward",
    "home end     go to the start or the end of the recording",
    "n p          the next, the previous event: of the marked thread, otherwise of any",
    "/            mark a thread by part of its name or by its ID; empty: the next match",
    "up down      mark the thread above or below, or the CPU",
    "tab          up and down are for CPUs, or for threads",
    "page up/down scroll the CPUs",
    "escape       stop a search or a long move where it is; otherwise remove the mark",
    "?            this help",
    "q            quit",
    "",
    "A CPU's past has a character for each step: the first one of the thread's name,",
    ". idle, ! an interrupt while idle, ? unknown, as where events are missing.",
};

} // namespace

Play::Play(Player &player, View view, Speed speed, std::uint64_t time, bool is_utf8)
    : player_(player), view_(std::move(view)), speed_(speed), is_utf8_(is_utf8)
{
	player_.go_to(time, player_.clock().to_ticks(speed_.step_ns()));
	scene_.time = time;
	scene_.step = player_.step();
}

void Play::update_scene()
{
	scene_ = player_.scene();
	if (std::exchange(was_finding_, false) && player_.has_found_none())
		message_ = view_.marked ? fmt::format("thread {} has no event in that direction", *view_.marked)
					: "there is no event in that direction";
}

bool Play::work()
{
	if (!player_.is_working())
		return false;
	if (player_.work(events_at_once))
		update_scene();
	return player_.is_working();
}

bool Play::tick()
{
	is_late_ = !is_paused_ && player_.is_working();
	if (is_paused_)
		return false;
	if (!is_late_ && player_.is_at_end()) {
		is_paused_ = true;
		message_ = "the end of the recording";
	} else if (!is_late_) {
		player_.step_forwards();
	}
	return true;
}

void Play::set_speed(Speed speed)
{
	speed_ = speed;
	player_.go_to(player_.target(), player_.clock().to_ticks(speed_.step_ns()));
}

void Play::step_back()
{
	const std::uint64_t step = player_.step(), time = player_.target();
	player_.go_to(time - std::min(time, step), step);
}

void Play::find(bool is_forwards)
{
	is_paused_ = was_finding_ = true;
	if (is_forwards)
		player_.find_next(view_.marked);
	else
		player_.find_previous(view_.marked);
}

void Play::scroll(int by)
{
	const auto last = static_cast<int>(scene_.cpus.size()) - static_cast<int>(cpus_shown_);
	view_.first_cpu =
	    static_cast<unsigned>(std::clamp(static_cast<int>(view_.first_cpu) + by, 0, std::max(last, 0)));
}

// Moves up or down in the list that tab has selected.
void Play::move_mark(int by)
{
	if (has_cpu_focus_ && !scene_.cpus.empty()) {
		const int last = static_cast<int>(scene_.cpus.size()) - 1;
		const int cpu =
		    view_.marked_cpu ? static_cast<int>(*view_.marked_cpu) + by : static_cast<int>(view_.first_cpu);
		view_.marked_cpu = static_cast<unsigned>(std::clamp(cpu, 0, last));
		const int above = static_cast<int>(view_.first_cpu) - static_cast<int>(*view_.marked_cpu);
		const int below = -above - static_cast<int>(cpus_shown_) + 1;
		scroll(above > 0 ? -above : std::max(below, 0));
		return;
	}
	if (threads_shown_.empty())
		return;
	const int last = static_cast<int>(threads_shown_.size()) - 1;
	const auto marked = view_.marked ? std::ranges::find(threads_shown_, *view_.marked) : threads_shown_.end();
	const int at = marked == threads_shown_.end() ? (by > 0 ? 0 : last)
						      : static_cast<int>(marked - threads_shown_.begin()) + by;
	view_.marked = threads_shown_[static_cast<std::size_t>(std::clamp(at, 0, last))];
}

// Marks the next thread after the marked one, by number, with this number or this text in its name.
void Play::mark_next(const std::string &wanted)
{
	std::int32_t number = -1;
	const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
	const bool is_number = error == std::errc() && end == wanted.data() + wanted.size();
	std::optional<std::int32_t> first, next;
	for (const SceneThread &thread : scene_.threads) {
		if (!(is_number ? thread.tid == number : thread.name.find(wanted) != std::string::npos))
			continue;
		if (!first)
			first = thread.tid;
		if (!next && view_.marked && thread.tid > *view_.marked)
			next = thread.tid;
	}
	if (!first)
		message_ = fmt::format("no thread has {} in its name, or the ID {}, so far", wanted, wanted);
	else
		view_.marked = next ? next : first;
}

void Play::press_in_search(const KeyPress &key)
{
	if (key.what == KeyPress::What::escape) {
		is_searching_ = false;
	} else if (key.what == KeyPress::What::enter) {
		is_searching_ = false;
		if (!typed_.empty())
			searched_ = typed_;
		if (!searched_.empty())
			mark_next(searched_);
	} else if (key.what == KeyPress::What::backspace) {
		while (!typed_.empty() && (static_cast<unsigned char>(typed_.back()) & 0xc0) == 0x80)
			typed_.pop_back();
		if (!typed_.empty())
			typed_.pop_back();
	} else if (key.what == KeyPress::What::character && key.character >= ' ' && typed_.size() < 64) {
		append_utf8(typed_, key.character);
	}
}

bool Play::press_character(char32_t character)
{
	switch (character) {
	case 'q':
		return false;
	case ' ':
		is_paused_ = !is_paused_;
		break;
	case '+':
	case '=':
		set_speed(speed_.faster());
		break;
	case '-':
		set_speed(speed_.slower());
		break;
	case 'n':
	case 'p':
		find(character == 'n');
		break;
	case '/':
		is_searching_ = true;
		typed_.clear();
		break;
	case '?':
		has_help_ = true;
		break;
	default:
		break;
	}
	return true;
}

bool Play::press(const KeyPress &key)
{
	message_.clear();
	if (std::exchange(has_help_, false))
		return true;
	if (is_searching_) {
		press_in_search(key);
		return true;
	}
	switch (key.what) {
	case KeyPress::What::character:
		return press_character(key.character);
	case KeyPress::What::left:
		is_paused_ = true;
		step_back();
		break;
	case KeyPress::What::right:
		is_paused_ = true;
		player_.step_forwards();
		break;
	case KeyPress::What::home:
		player_.go_to(player_.begin(), player_.step());
		break;
	case KeyPress::What::end:
		player_.go_to(player_.end(), player_.step());
		break;
	case KeyPress::What::up:
	case KeyPress::What::down:
		move_mark(key.what == KeyPress::What::up ? -1 : 1);
		break;
	case KeyPress::What::page_up:
	case KeyPress::What::page_down:
		scroll(static_cast<int>(cpus_shown_) * (key.what == KeyPress::What::page_up ? -1 : 1));
		break;
	case KeyPress::What::tab:
		has_cpu_focus_ = !has_cpu_focus_;
		view_.marked_cpu.reset();
		if (has_cpu_focus_)
			move_mark(0);
		break;
	case KeyPress::What::escape:
		if (player_.is_working()) {
			was_finding_ = false;
			is_paused_ = true;
			player_.cancel();
			update_scene();
		} else {
			view_.marked.reset();
		}
		break;
	case KeyPress::What::enter:
	case KeyPress::What::backspace:
	case KeyPress::What::function:
		break;
	}
	return true;
}

std::string Play::note() const
{
	if (is_searching_)
		return "thread: " + typed_ + "_";
	if (!message_.empty())
		return message_;
	if (player_.is_working() && (is_paused_ || is_late_))
		return fmt::format("reading, at {:.0f} % of the trace; escape stops here", player_.progress() * 100);
	return keys;
}

Cells Play::draw_help(unsigned rows, unsigned columns) const
{
	Cells cells(rows, columns, is_utf8_);
	unsigned row = 0;
	for (const char *line : help)
		cells.text(row++, 1, line);
	return cells;
}

Cells Play::draw(unsigned rows, unsigned columns)
{
	if (has_help_)
		return draw_help(rows, columns);
	view_.speed = speed_.text();
	view_.state = is_paused_ ? "paused" : is_late_ ? "slower" : "";
	view_.note = note();
	Shown shown = play::draw(scene_, view_, rows, columns, is_utf8_);
	cpus_shown_ = std::max(shown.cpus, 1u);
	threads_shown_ = std::move(shown.threads);
	return std::move(shown.cells);
}

} // namespace monitor::play
