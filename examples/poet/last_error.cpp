// SPDX-License-Identifier: MIT
// last_error TRACE FILTER EVENTS: prints the last event that passes the filter, then EVENTS events before it, backward.
// Walked through in Documentation/poet.md.
#include <cstdlib>
#include <iostream>
#include <poet/poet.hpp>

namespace {

void print(const poet::Trace &trace, poet::Cursor &cursor)
{
	std::cout << trace.clock().text(cursor.time(), poet::Resolution::nanoseconds) << "  ";
	if (cursor.item() == poet::Item::gap) {
		const poet::Gap &gap = cursor.gap();
		std::cout << gap.stream->name << ": ";
		if (gap.lost)
			std::cout << *gap.lost << " events lost\n";
		else
			std::cout << "events lost, nobody knows how many\n";
		return;
	}
	const poet::Event &event = cursor.event();
	std::cout << '#' << cursor.position() << "  cpu ";
	if (const auto cpu = event.cpu())
		std::cout << *cpu;
	else
		std::cout << '-';
	std::cout << "  " << event.to_text() << '\n';
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::cerr << "usage: last_error TRACE FILTER EVENTS\n";
		return 2;
	}
	try {
		const poet::Trace trace(argv[1]);
		const poet::Filter is_error(trace, argv[2]);

		poet::Cursor cursor(trace);
		cursor.show_gaps(false);
		cursor.to_end();
		if (cursor.previous(is_error) == poet::Item::none) {
			std::cout << "no event passes the filter\n";
			return 0;
		}
		print(trace, cursor);

		cursor.show_gaps(true);
		for (int left = std::atoi(argv[3]); left > 0 && cursor.previous() != poet::Item::none; --left)
			print(trace, cursor);
	} catch (const poet::Error &error) {
		std::cerr << "last_error: " << error.what() << '\n';
		return 1;
	}
	return 0;
}
