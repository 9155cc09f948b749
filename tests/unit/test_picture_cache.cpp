// SPDX-License-Identifier: MIT
// Kept pictures: they are those that were read, of this very trace, and damage is noticed.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include <catch2/catch.hpp>

#include "activity_history.h"
#include "answers/view/picture.h"
#include "answers/view/picture_cache.h"
#include "answers/view/tile.h"
#include "history.h"
#include "poet_samples.h"
#include "reading/analyze/thread_fold.h"

namespace test_picture_cache {

using namespace monitor;
namespace fs = std::filesystem;

namespace {

std::string all_of(const view::Timeline &timeline)
{
	std::string lanes = "c0";
	for (std::size_t i = 0; i < timeline.threads().size(); ++i)
		lanes += ",r" + std::to_string(i) + ",w" + std::to_string(i);
	std::string bytes = view::modes_tile(timeline, 0, timeline.ticks(), 100);
	for (unsigned level = timeline.first_level(); level < view::levels; ++level)
		bytes += view::slices_tile({timeline}, level, 0, ~std::uint64_t(0), lanes, 1 << 24);
	for (const view::ThreadLanes &thread : timeline.threads())
		bytes += std::to_string(thread.number) + thread.name +
			 std::to_string(timeline.find(thread.tid, thread.cpu, thread.first));
	return bytes;
}

// Where pictures are kept, as long as it lives.
class CacheHome {
public:
	explicit CacheHome(const fs::path &path) { ::setenv("XDG_CACHE_HOME", path.c_str(), 1); }
	~CacheHome() { ::unsetenv("XDG_CACHE_HOME"); }
	CacheHome(const CacheHome &) = delete;
	CacheHome &operator=(const CacheHome &) = delete;
};

} // namespace

TEST_CASE("view: a kept picture is the one that was read, and of this trace only")
{
	std::mt19937 random(3);
	std::uint64_t time = 0;
	history::History history = history::random_history(random, time, 1);
	poet_samples::Directory directory(history.all(), history::events);
	const fs::path cache = fs::path(directory.path()) / "cache";
	const CacheHome home(cache);
	const std::vector<std::string> directories = {directory.path()};
	trace::Trace trace = trace::Trace::open(directories);
	const analyze::RecordingInfo info = history::make_info(5, time + 10, true, false);
	analyze::ThreadFold fold(trace, info);
	view::Timeline timeline(fold.window_begin(), fold.window_end(), 1, 1 << 20);
	fold.add(timeline);
	analyze::feed(trace, fold);
	timeline.finish(fold);

	const view::PictureCache empty(directories, trace);
	CHECK_FALSE(empty.find());
	empty.save(timeline, {}, "its text");
	const auto kept = view::PictureCache(directories, trace).find();
	REQUIRE(kept);
	CHECK(kept->text == "its text");
	CHECK(all_of(*kept->timeline) == all_of(timeline));
	CHECK(kept->timeline->begin() == timeline.begin());

	const fs::path file = fs::directory_iterator(cache / "monitor" / "pictures")->path();
	CHECK((fs::status(file).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
	const auto size = fs::file_size(file);
	for (const auto at : {std::uintmax_t(3), std::uintmax_t(20), size / 2, size - 1}) { // one bit anywhere
		INFO("byte " << at);
		const auto flip = [&] {
			std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
			bytes.seekg(static_cast<std::streamoff>(at));
			const int byte = bytes.get();
			bytes.seekp(static_cast<std::streamoff>(at));
			bytes.put(static_cast<char>(byte ^ 4));
		};
		flip();
		CHECK_FALSE(view::PictureCache(directories, trace).find());
		flip();
		CHECK(view::PictureCache(directories, trace).find());
	}
	fs::resize_file(file, size / 3);
	CHECK_FALSE(view::PictureCache(directories, trace).find());

	empty.save(timeline, {}, "its text");
	CHECK(view::PictureCache(directories, trace).find());
	fs::last_write_time(fs::path(directory.path()) / "s0",
			    fs::file_time_type::clock::now() + std::chrono::seconds(9));
	CHECK_FALSE(view::PictureCache(directories, trace).find()); // the file may have been replaced
}

TEST_CASE("view: a picture is made from what was kept, and is the same")
{
	std::mt19937 random(5);
	std::uint64_t time = 0;
	history::History history = history::random_history(random, time, 1);
	poet_samples::Directory directory(history.all(), history::events);
	const CacheHome home(fs::path(directory.path()) / "cache");
	const std::vector<std::string> directories = {directory.path()};
	const auto picture = [&](std::chrono::milliseconds after) {
		return view::Picture(directories, trace::Trace::open(directories), {}, {true, after});
	};
	const view::Picture not_kept = picture(std::chrono::hours(1));
	CHECK_FALSE(view::PictureCache(directories, trace::Trace::open(directories)).find());
	const view::Picture read = picture(std::chrono::milliseconds(0));
	const view::PictureCache cache(directories, trace::Trace::open(directories));
	const auto kept = cache.find();
	REQUIRE(kept);
	const view::Picture again = picture(std::chrono::milliseconds(0));
	CHECK(again.about() == read.about());
	CHECK(all_of(again.timeline()) == all_of(read.timeline()));
	CHECK(again.groups().json(again.timeline(), again.rows()) == read.groups().json(read.timeline(), read.rows()));
	for (const char *by : {"process", "thread", "command", "cgroup", "cpu"})
		CHECK(again.table(0, ~std::uint64_t(0), by) == read.table(0, ~std::uint64_t(0), by));
	std::string forged = kept->text;
	const std::string known = "\"host\":\"\"";
	REQUIRE(forged.find(known) != std::string::npos);
	cache.save(*kept->timeline, kept->activities,
		   forged.replace(forged.find(known), known.size(), "\"host\":\"kept\""));
	CHECK(picture(std::chrono::milliseconds(0)).about()["host"] == "kept");
}

TEST_CASE("view: a kept picture has its lanes of activities")
{
	activity_history::History history;
	history.switches(10, 0, 0, 7);
	for (std::uint64_t time = 1000; time < 500'000; time += 3000) {
		history.posts(time, activity_history::a_begin);
		history.posts(time + 1000, activity_history::a_end);
	}
	poet_samples::Directory directory(history.streams, activity_history::events);
	const CacheHome home(fs::path(directory.path()) / "cache");
	const auto lanes = [&] {
		const view::Picture picture({directory.path()}, trace::Trace::open({directory.path()}), {},
					    {true, std::chrono::milliseconds(0)});
		std::string bytes = picture.activities().json(picture.rows()).dump();
		for (unsigned level = 0; level < view::levels; ++level)
			bytes += picture.slices(level, 0, ~std::uint64_t(0), "a0", {});
		return bytes;
	};
	const std::string read = lanes();
	CHECK(read.find("\"count\":167") != std::string::npos);
	REQUIRE(view::PictureCache({directory.path()}, trace::Trace::open({directory.path()})).find());
	CHECK(lanes() == read);
}

} // namespace test_picture_cache
