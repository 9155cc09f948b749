// SPDX-License-Identifier: MIT
// What `monitor tdl show` and `compile` say of a description: types for people, and in parts for programs.
#include <catch2/catch.hpp>

#include "base/json.h"
#include "reading/tdl/show.h"
#include "tdl_samples.h"

namespace test_tdl_show {

using namespace monitor::trace::tdl;

namespace {

const std::string text = R"(trace t
big endian
magic "LE" means little endian, at in milliseconds
magic "BE"
every record begins with
	kind signed 8 bits, named kinds, hidden
	size unsigned 8 bits, in bits
	at unsigned 16 bits, in seconds, little endian
	length is size plus 8 rounded up to 4 bytes
	time is at since boot, may step back
	cpu is kind
end
record one when kind is one or -3
	n signed 8 bits, always -2
	values list of n times 2 plus 1 signed 16 bits, as hexadecimal
	when n is at least 1 and kind has one
		group places n times
			x real 32 bits, little endian
		end
	end
	filler to a multiple of 4 bytes
	name text until zero
	sum unsigned 32 bits, checksum crc32 of n to values
	rest block to the end
end
names kinds
	-5 to -1 means low
	1 means one
end
)";

nlohmann::json json_of(const std::string &description)
{
	Model model;
	std::string why;
	REQUIRE((read_text(description, model, why), why) == "");
	return nlohmann::json::parse(to_json(model, compile(model, &model.magics.front()).placed));
}

nlohmann::json field(const std::string &name)
{
	const nlohmann::json all = json_of(text);
	for (const auto &each : all.at("blocks").at(0).at("fields"))
		if (each.at("name") == name)
			return each;
	return {};
}

} // namespace

TEST_CASE("tdl: what a program needs to decode a record is told in parts")
{
	const nlohmann::json all = json_of(text), &block = all.at("blocks").at(0);
	CHECK(all.at("byte_order") == "big");
	CHECK(all.at("magics").at(0).at("byte_order") == "little");
	CHECK(all.at("magics").at(0).at("units").at("at").at("per_second") == 1000);
	CHECK(all.at("magics").at(1).at("byte_order") == "big");
	CHECK(block.at("conditions").dump() == R"([{"field":"kind","relation":"is","values":["one",-3]}])");
	CHECK(block.at("length_parts").dump() ==
	      R"({"field":"size","multiple_bytes":4,"plus":8,"times":1,"unit_bits":1})");
	CHECK(block.at("time_parts").dump() ==
	      R"({"fields":["at"],"may_step_back":true,"since":"boot","wrapping":false})");
	CHECK(block.at("cpu") == "kind");
	CHECK(all.at("names").at("kinds").at(0).dump() == R"({"first":-5,"last":-1,"name":"low"})");
}

TEST_CASE("tdl: JSON describes a type by its parts")
{
	const nlohmann::json kind = field("kind"), at = field("at"), values = field("values");
	CHECK((kind.at("kind") == "integer" && kind.at("signed") == true && kind.at("names") == "kinds" &&
	       kind.at("hidden") == true && kind.at("size_bits") == 8 && kind.at("offset_bits") == 0));
	CHECK((at.at("byte_order") == "little" && at.at("own_byte_order") == true && at.at("per_second") == 1000));
	CHECK((field("n").at("always") == -2 && field("n").at("type") == "signed 8 bits, always -2"));
	CHECK(values.at("amount").dump() == R"({"field":"n","plus":1,"times":2})");
	CHECK(
	    values.at("element").dump() ==
	    R"({"base":16,"byte_order":"little","kind":"integer","own_byte_order":false,"signed":true,"size_bits":16})");
	CHECK(field("places").at("kind") == "group");
	CHECK(
	    field("places.x").at("conditions").dump() ==
	    R"([{"field":"n","relation":"is at least","values":[1]},{"field":"kind","relation":"has","values":["one"]}])");
	CHECK(field("name").at("amount") == "until zero");
	CHECK(field("rest").at("amount") == "to the end");
	CHECK(field("sum").at("checksum").dump() == R"({"first":"n","last":"values","method":"crc32"})");
}

TEST_CASE("tdl: the byte order of elements is shown")
{
	Model model;
	std::string why;
	REQUIRE(read_text(text, model, why));
	for (const FieldRow &row : rows_of(compile(model, &model.magics.back()).placed)) {
		if (row.field == "values")
			CHECK(row.type == "list of n times 2 plus 1 signed 16 bits, big endian");
		if (row.field == "places.x")
			CHECK(row.type == "real 32 bits, not always present");
	}
}

} // namespace test_tdl_show
