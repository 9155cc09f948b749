// SPDX-License-Identifier: MIT
// .monitor/recording.json: what is written of each member is read, and what is damaged or foreign has its default.
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/recording_file/contents.h"

namespace test_recording_file {

using namespace monitor;
using namespace monitor::recording_file;

namespace {

// Gives each member another value than its default, and than the others of its type.
class Filler : public Visitor<Filler> {
public:
	template <class T> void visit(const char *, T &value) { fill(value); }

private:
	template <class T> void fill(T &value)
	{
		if constexpr (is_optional<T>) {
			fill(value.emplace());
		} else if constexpr (is_vector<T>) {
			value.resize(2);
			for (auto &item : value)
				fill(item);
		} else if constexpr (is_map<T>) {
			using Key = typename T::key_type;
			for (const unsigned i : {1, 2})
				if constexpr (std::is_same_v<Key, std::string>)
					fill(value["key " + std::to_string(i)]);
				else
					fill(value[Key{i}]);
		} else if constexpr (HasFields<T, Filler>) {
			value.fields(*this);
		} else if constexpr (std::is_same_v<T, bool>) {
			value = !value;
		} else if constexpr (std::is_same_v<T, std::string>) {
			value = "text " + std::to_string(++next_);
		} else {
			value = static_cast<T>(++next_) + (std::is_floating_point_v<T> ? static_cast<T>(0.5) : T{});
		}
	}

	unsigned next_ = 0;
};

// Lists the values of all members.
class Lister : public Visitor<Lister> {
public:
	template <class T> void visit(const char *name, T &value) { add(name, value); }

	std::vector<std::string> all;

private:
	template <class T> void add(const std::string &name, T &value)
	{
		if constexpr (is_optional<T>) {
			if (value)
				add(name, *value);
			else
				all.push_back(name + ": none");
		} else if constexpr (is_vector<T>) {
			all.push_back(name + ": " + std::to_string(value.size()));
			for (auto &item : value)
				add(name, item);
		} else if constexpr (is_map<T>) {
			for (auto &[key, item] : value) {
				auto copy = key;
				add(name, copy);
				add(name, item);
			}
		} else if constexpr (HasFields<T, Lister>) {
			value.fields(*this);
		} else if constexpr (std::is_same_v<T, std::string>) {
			all.push_back(name + ": " + value);
		} else {
			all.push_back(name + ": " + std::to_string(value));
		}
	}
};

std::vector<std::string> listed(Contents contents)
{
	Lister lister;
	contents.fields(lister);
	return lister.all;
}

Contents filled()
{
	Contents contents;
	Filler filler;
	contents.fields(filler);
	contents.calibration->phases->why_unknown = ""; // the figures are known
	return contents;
}

// Every value that is not an object or an array.
template <class Json> void replace_leaves(Json &json, const Json &by)
{
	if (!json.is_structured())
		json = by;
	else
		for (auto &item : json)
			replace_leaves(item, by);
}

const std::vector<nlohmann::json> foreign = {
    nullptr, true, -1, 1e300, "x", nlohmann::json::array(), nlohmann::json::object(), {1, "x"}, {{"x", {1}}}};

} // namespace

TEST_CASE("recording file: what is written of each member is read")
{
	const Contents written = filled();
	CHECK(listed(written).size() > 400);
	const std::optional<Contents> read = parse(text_of(written));
	REQUIRE(read);
	CHECK(listed(*read) == listed(written));
	CHECK(text_of(*read) == text_of(written));
	CHECK_FALSE(read->counts[0].is_damaged);
	CHECK_FALSE(read->times[0].is_damaged);
}

// recording.json beside this file has all members; a new one is added there.
TEST_CASE("recording file: one of today is read and written as it is")
{
	using Json = nlohmann::ordered_json;
	const auto path = std::filesystem::path(__FILE__).replace_filename("recording.json");
	Json golden = parse_json<Json>(read_file(path.string(), max_description_file_bytes));
	const Json written = parse_json<Json>(text_of(parse(golden.dump()).value()));
	CHECK(Json::diff(golden, written) == Json::array());
	CHECK(written == golden);
	Json all = parse_json<Json>(text_of(filled()));
	replace_leaves<Json>(golden, 0);
	replace_leaves<Json>(all, 0);
	CHECK(Json::diff(golden, all) == Json::array());
}

TEST_CASE("recording file: what is not known is not written, but for the reach of a snapshot")
{
	Contents contents;
	contents.flight.emplace();
	const auto json = parse_json<nlohmann::ordered_json>(text_of(contents));
	for (const char *name :
	     {"command_pid", "statistics", "attach",   "calibration",   "functions",  "witness",      "tsc_skew",
	      "card",        "families",   "left_out", "lacking",       "triggers",   "pauses",       "start",
	      "counters",    "states",     "tokens",   "kernel_counts", "classes",    "lost_by_cpu",  "stacks",
	      "user_card",   "counted",    "recorder", "end",           "end_reason", "command_exit", "lives"})
		CHECK_FALSE(json.contains(name));
	CHECK(json.at("flight").at("before_ns").is_null());
	CHECK(json.at("filter").size() == 2);
	CHECK(listed(*parse(text_of(contents))) == listed(contents));
}

TEST_CASE("recording file: figures that are not known say why")
{
	Contents contents = filled();
	contents.calibration->end.reset();
	contents.calibration->why_no_end = "no privilege";
	contents.calibration->phases->why_unknown = "too few";
	contents.calibration->phases->number = 0;
	const auto json = parse_json(text_of(contents)).at("calibration");
	CHECK(json.at("end") == nlohmann::json{{"why_not", "no privilege"}});
	CHECK(json.at("phases").at("number") == 0);
	CHECK_FALSE(json.at("phases").contains("median"));
	const Contents read = parse(text_of(contents)).value();
	CHECK_FALSE(read.calibration->end);
	CHECK(read.calibration->why_no_end == "no privilege");
	CHECK(read.calibration->phases->why_unknown == "too few");
}

TEST_CASE("recording file: values of other types are not taken for something")
{
	const nlohmann::json whole = parse_json(text_of(filled()));
	for (const nlohmann::json &other : foreign) {
		nlohmann::json json = whole;
		replace_leaves(json, other);
		const Contents read = parse(json.dump()).value();
		CHECK(read.counts.at(0).is_damaged);
		for (const auto &[name, value] : whole.items()) {
			json = nlohmann::json{{name, other}};
			CHECK_NOTHROW(parse(json.dump()));
		}
	}
	for (const char *text : {"", "[]", "7", "{", "null"})
		CHECK_FALSE(parse(text));
	const Contents negative = parse(R"({"clamped": -1, "end": {"time": -1}, "recorder": {"pid": "x"}})").value();
	CHECK(negative.clamped == 0);
	CHECK_FALSE(negative.end.time);
	CHECK(negative.recorder.pid == 0);
}

} // namespace test_recording_file
