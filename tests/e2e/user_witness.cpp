// SPDX-License-Identifier: MIT
// Reads the user streams of a trace with nothing of the project but the layout of a block, and says what of the load
// `stress` is there: events, duplicates, torn ones, times that step back.   user_witness METADATA-IDS DIR EVENTS
// Prints "found=N signals=M duplicates=D torn=T backwards=B missing=X".
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

int main(int count, char **argument)
{
	if (count != 5)
		return std::fputs("user_witness STEP-ID SIGNAL-ID DIR EVENTS\n", stderr), 2;
	const auto step = std::strtoul(argument[1], nullptr, 10), signalled = std::strtoul(argument[2], nullptr, 10);
	const auto each = std::strtoull(argument[4], nullptr, 10) / 4;
	std::vector<std::vector<bool>> seen(5, std::vector<bool>(each));
	std::uint64_t found = 0, signals = 0, duplicates = 0, torn = 0, backwards = 0;
	const auto mark = [](std::uint64_t n, std::uint64_t who) { return n * 0x9e3779b97f4a7c15u ^ who << 56; };
	for (const auto &entry : std::filesystem::directory_iterator(argument[3])) {
		if (entry.path().filename().string().rfind("user_", 0) != 0)
			continue;
		std::ifstream file(entry.path(), std::ios::binary);
		std::uint64_t block[512], last = 0;
		while (file.read(reinterpret_cast<char *>(block), sizeof block)) {
			std::uint64_t time = block[4];
			backwards += time < last;
			for (std::uint64_t at = 12; at < block[6] / 64; ++at) {
				const std::uint64_t token = block[at], id = token & 0xfff;
				const std::uint32_t now = static_cast<std::uint32_t>(token >> 12);
				const std::uint32_t delta = now - static_cast<std::uint32_t>(time);
				backwards += delta >> 31;
				time += delta;
				if (id == 5) {
					++at;
				} else if (id == step || id == signalled) {
					const std::uint64_t who = id == step ? token >> 48 : 4, n = block[at + 1];
					torn += who > 4 || block[at + 2] != mark(n, who);
					if (seen[who % 5].size() <= n && n < 1u << 30)
						seen[who % 5].resize(n + 1);
					if (n < seen[who % 5].size()) {
						duplicates += seen[who % 5][n];
						seen[who % 5][n] = true;
					}
					++(id == step ? found : signals);
					at += 2;
				} else {
					++torn;
				}
			}
			last = time;
		}
	}
	std::uint64_t missing = 0;
	for (int who = 0; who < 4; ++who)
		for (bool there : seen[static_cast<std::size_t>(who)])
			missing += !there;
	std::printf("found=%llu signals=%llu duplicates=%llu torn=%llu backwards=%llu missing=%llu\n",
		    static_cast<unsigned long long>(found), static_cast<unsigned long long>(signals),
		    static_cast<unsigned long long>(duplicates), static_cast<unsigned long long>(torn),
		    static_cast<unsigned long long>(backwards), static_cast<unsigned long long>(missing));
}
