// SPDX-License-Identifier: MIT
// Signal handlers only set a flag, which the loop checks, as they could not restore the terminal safely.
#include "screen.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <tuple>

#include <poll.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/signals.h"

namespace monitor::terminal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto max_wait = std::chrono::milliseconds(200); // interval for checking signals

volatile std::sig_atomic_t ending_signal = 0;

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A second signal ends the program at once, as the loop may be blocked by a terminal that takes no output.
void note_signal(int signal)
{
	ending_signal = signal;
	for (const int each : ending_signals)
		::signal(each, SIG_DFL);
}

// Installed before ncurses, which installs its own only if there are none.
class EndingSignals {
public:
	EndingSignals()
	{
		struct sigaction action {};
		action.sa_handler = note_signal; // without SA_RESTART: waiting for a key ends
		for (std::size_t i = 0; i < std::size(ending_signals); ++i) {
			const sigset_t noted = terminating_signals({ending_signals[i]});
			::sigaction(ending_signals[i], sigismember(&noted, ending_signals[i]) ? &action : nullptr,
				    &before_[i]);
		}
	}
	~EndingSignals()
	{
		for (std::size_t i = 0; i < std::size(ending_signals); ++i)
			::sigaction(ending_signals[i], &before_[i], nullptr);
	}
	EndingSignals(const EndingSignals &) = delete;
	EndingSignals &operator=(const EndingSignals &) = delete;

private:
	struct sigaction before_[std::size(ending_signals)];
};

class Screen {
public:
	explicit Screen(const std::string &instead)
	{
		if (!::isatty(STDIN_FILENO))
			throw Error("keys are read from standard input, which is not a terminal; " + instead);
		screen_ = ::newterm(nullptr, stdout, stdin);
		if (!screen_) {
			const char *type = std::getenv("TERM");
			throw Error(
			    "the terminal type TERM={} is not known here: set TERM to one that is, such as xterm; {}",
			    printable(type ? type : ""), instead);
		}
		::cbreak();
		::noecho();
		::nonl();
		::keypad(stdscr, TRUE);
		::set_escdelay(25);
		::curs_set(0);
		if (::has_colors() && ::start_color() == OK) {
			::use_default_colors();
			has_colours_ = true;
			for (short colour = 1; colour < static_cast<short>(colours); ++colour) // in ncurses' order
				has_colours_ = ::init_pair(colour, colour, -1) == OK && has_colours_;
		}
	}
	~Screen()
	{
		::endwin();
		::delscreen(screen_);
	}
	Screen(const Screen &) = delete;
	Screen &operator=(const Screen &) = delete;

	void show(const Cells &cells)
	{
		::erase();
		for (unsigned row = 0; row < cells.rows(); ++row)
			for (unsigned column = 0; column < cells.columns(); ++column)
				if (const Cell &cell = cells.at(row, column); cell != Cell{})
					put(row, column, cell);
		::refresh();
	}
	static unsigned rows() { return static_cast<unsigned>(std::max(LINES, 1)); }
	static unsigned columns() { return static_cast<unsigned>(std::max(COLS, 1)); }

	struct Input {
		std::optional<KeyPress> key;
		bool is_new_size = false;
		bool is_hung_up = false; // the terminal
	};
	static Input wait(std::chrono::milliseconds timeout)
	{
		::timeout(static_cast<int>(timeout.count()));
		wint_t code = 0;
		const int got = ::get_wch(&code);
		Input input;
		if (got == KEY_CODE_YES && code == KEY_RESIZE)
			input.is_new_size = true;
		else if (got != ERR)
			input.key = key_of(code, got == KEY_CODE_YES);
		else
			input.is_hung_up = is_terminal_hung_up();
		return input;
	}

private:
	void put(unsigned row, unsigned column, const Cell &cell) const
	{
		attr_t attributes = A_NORMAL;
		attributes |= cell.look.is_bold ? A_BOLD : A_NORMAL;
		attributes |= cell.look.is_dim ? A_DIM : A_NORMAL;
		attributes |= cell.look.is_reverse ? A_REVERSE : A_NORMAL;
		const wchar_t text[] = {static_cast<wchar_t>(cell.character), 0};
		cchar_t character;
		::setcchar(&character, text, attributes, has_colours_ ? static_cast<short>(cell.look.colour) : short(0),
			   nullptr);
		::mvadd_wch(static_cast<int>(row), static_cast<int>(column), &character);
	}

	static bool is_terminal_hung_up()
	{
		pollfd input = {STDIN_FILENO, POLLIN, 0};
		return ::poll(&input, 1, 0) == 1 && (input.revents & (POLLHUP | POLLERR | POLLNVAL));
	}

	static std::optional<KeyPress> key_of(wint_t code, bool is_function_key)
	{
		using What = KeyPress::What;
		// Whether it is a function key, its code, what it does.
		constexpr std::tuple<bool, wint_t, What> keys[] = {
		    {true, KEY_LEFT, What::left},     {true, KEY_RIGHT, What::right},
		    {true, KEY_UP, What::up},         {true, KEY_DOWN, What::down},
		    {true, KEY_PPAGE, What::page_up}, {true, KEY_NPAGE, What::page_down},
		    {true, KEY_HOME, What::home},     {true, KEY_END, What::end},
		    {true, KEY_ENTER, What::enter},   {true, KEY_BACKSPACE, What::backspace},
		    {false, '\t', What::tab},         {false, '\r', What::enter},
		    {false, '\n', What::enter},       {false, 27, What::escape},
		    {false, 127, What::backspace},    {false, 8, What::backspace}};
		for (const auto &[is_function, each, what] : keys)
			if (is_function == is_function_key && each == code)
				return KeyPress{what};
		if (!is_function_key)
			return KeyPress{What::character, static_cast<char32_t>(code)};
		if (code >= KEY_F(1) && code <= KEY_F(12))
			return KeyPress{What::function, static_cast<char32_t>(code - KEY_F0)};
		return {};
	}

	SCREEN *screen_ = nullptr;
	bool has_colours_ = false;
};

// Between frames: continues pending work for a moment, then reads keys.
Screen::Input work_or_wait(InteractiveView &view, Clock::time_point next_frame)
{
	while (view.work())
		if (Clock::now() >= next_frame)
			return Screen::wait(std::chrono::milliseconds(0));
	const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_frame - Clock::now());
	return Screen::wait(view.is_still() ? max_wait : std::clamp(left, std::chrono::milliseconds(0), max_wait));
}

} // namespace

int show(InteractiveView &view, std::chrono::nanoseconds frame_time, const std::string &instead)
{
	ending_signal = 0;
	const EndingSignals signals;
	Screen screen(instead);
	auto next_frame = Clock::now() + frame_time;
	bool is_changed = true;
	while (ending_signal == 0 && !view.is_over()) {
		if (is_changed)
			screen.show(view.draw(Screen::rows(), Screen::columns()));
		const bool was_working = view.is_working();
		const Screen::Input input = work_or_wait(view, next_frame);
		if (input.is_hung_up || (input.key && !view.press(*input.key)))
			break;
		is_changed = input.key || input.is_new_size || was_working;
		if (Clock::now() >= next_frame) {
			is_changed |= view.tick();
			next_frame += frame_time;
			if (Clock::now() > next_frame)
				next_frame = Clock::now() + frame_time;
		}
	}
	return ending_signal;
}

} // namespace monitor::terminal
