// SPDX-License-Identifier: MIT
#include "show.h"

#include "base/json.h"

namespace monitor::trace::tdl {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes_text(std::uint64_t bits)
{
	return std::to_string(bits / 8) + (bits % 8 ? "." + std::to_string(bits % 8) : "");
}

std::string amount_text(const Amount &amount)
{
	if (!amount.field)
		return std::to_string(amount.plus);
	std::string text = amount.field.text;
	if (amount.times != 1)
		text += " times " + std::to_string(amount.times);
	if (amount.plus != 0)
		text += (amount.plus > 0 ? " plus " : " minus ") + std::to_string(std::abs(amount.plus));
	return text;
}

std::string size_text(const Size &size)
{
	std::string text = amount_text(size.amount);
	if (size.has_unit)
		text += size.unit_bits == 1 ? " bits" : " bytes";
	if (size.multiple_bytes != 1)
		text += " rounded up to " + std::to_string(size.multiple_bytes) + " bytes";
	return text;
}

std::string time_text(const Time &time)
{
	constexpr const char *origins[] = {"1970", "boot", "the first record", "the segment", "the record before"};
	std::string text = time.parts.front().text;
	if (time.parts.size() > 1)
		text += " plus " + time.parts.back().text;
	text += std::string(" since ") + origins[static_cast<std::size_t>(time.origin)];
	return text + (time.wraps ? " wrapping" : "") + (time.may_step_back ? " may step back" : "");
}

std::string condition_text(const std::vector<Condition> &conditions)
{
	constexpr const char *relations[] = {" is ", " is not ", " is at least ", " is at most ", " has ", " lacks "};
	std::string text;
	for (const Condition &condition : conditions) {
		text += (text.empty() ? "" : " and ") + condition.field.text +
			relations[static_cast<std::size_t>(condition.relation)];
		for (const Constant &constant : condition.values) {
			text += &constant == condition.values.data() ? "" : " or ";
			text += constant.name          ? constant.name.text
				: constant.is_negative ? std::to_string(static_cast<std::int64_t>(constant.number))
						       : std::to_string(constant.number);
		}
	}
	return text;
}

std::string scalar_text(const Field &field, bool is_real)
{
	return (is_real           ? "real "
		: field.is_signed ? "signed "
				  : "unsigned ") +
	       std::to_string(field.bits) + (field.bits == 1 ? " bit" : " bits");
}

std::string extent_text(const Field &field)
{
	return field.extent == Field::Extent::to_end       ? " to the end"
	       : field.extent == Field::Extent::until_zero ? " until zero"
							   : " of " + amount_text(field.amount) + " bytes";
}

std::string type_text(const Placed &placed)
{
	constexpr const char *checksums[] = {"", "sum8", "sum16", "sum32", "xor8", "crc32"};
	const Item &item = *placed.item;
	const Field &field = item.field;
	std::string text;
	if (item.kind == Item::Kind::filler_to)
		return "filler to a multiple of " + std::to_string(item.multiple_bytes) + " bytes";
	if (item.kind == Item::Kind::group)
		return "group" + (!item.is_repeated ? ""
				  : field.extent == Field::Extent::to_end
				      ? " to the end"
				      : ", " + amount_text(field.amount) + " times");
	if (item.kind == Item::Kind::filler)
		return field.type == Field::Type::block ? "filler" + extent_text(field) : "filler";
	switch (field.type) {
	case Field::Type::integer:
	case Field::Type::real:
		text = scalar_text(field, field.type == Field::Type::real);
		break;
	case Field::Type::text:
		text = "text" + extent_text(field);
		break;
	case Field::Type::block:
		text = "block" + extent_text(field);
		break;
	case Field::Type::list:
		text = "list " +
		       (field.extent == Field::Extent::to_end ? "to the end of "
							      : "of " + amount_text(field.amount) + " ") +
		       scalar_text(field, field.is_real_list);
		break;
	}
	if (placed.big_endian && field.bits > 8 && field.type <= Field::Type::real)
		text += ", big endian";
	if (field.names)
		text += ", named " + field.names.text;
	if (field.always)
		text += ", always " + std::to_string(*field.always);
	if (field.checksum != Checksum::none)
		text += std::string(", checksum ") + checksums[static_cast<std::size_t>(field.checksum)];
	return text + (placed.is_optional ? ", not always there" : "");
}

Json fields_json(const std::vector<Placed> &placed, const std::string &block)
{
	auto all = Json::array();
	for (const Placed &each : placed) {
		if (each.block != block)
			continue;
		Json field = {{"name", each.name}, {"type", type_text(each)}};
		field["offset_bits"] = each.at_bits ? Json(*each.at_bits) : Json(nullptr);
		field["size_bits"] = each.size_bits ? Json(*each.size_bits) : Json(nullptr);
		if (!each.unit.name.empty())
			field["unit"] = each.unit.name;
		if (!each.item->meaning.empty())
			field["meaning"] = each.item->meaning;
		all.push_back(std::move(field));
	}
	return all;
}

Json block_json(const Block &block, const std::string &name, const std::vector<Placed> &placed, const Block *common)
{
	Json made = {{"block", name}};
	if (!block.meaning.empty())
		made["meaning"] = block.meaning;
	if (!block.conditions.empty())
		made["when"] = condition_text(block.conditions);
	const auto &length = block.length || !common ? block.length : common->length;
	const auto &time = block.time || !common ? block.time : common->time;
	if (length)
		made["length"] = size_text(*length);
	if (block.content)
		made["content"] = size_text(*block.content);
	if (time)
		made["time"] = time_text(*time);
	made["fields"] = fields_json(placed, name);
	return made;
}

Json names_json(const std::vector<Names> &names)
{
	Json made = Json::object();
	for (const Names &each : names) {
		auto labels = Json::array();
		for (const Label &label : each.labels) {
			Json row = label.is_bit ? Json{{"bit", label.first}}
						: Json{{"first", label.first}, {"last", label.last}};
			row["name"] = label.text;
			if (!label.meaning.empty())
				row["meaning"] = label.meaning;
			labels.push_back(std::move(row));
		}
		made[each.name] = std::move(labels);
	}
	return made;
}

} // namespace

std::vector<Row> rows_of(const std::vector<Placed> &placed)
{
	std::vector<Row> rows;
	rows.reserve(placed.size());
	for (const Placed &each : placed)
		rows.push_back({each.block, each.name, each.at_bits ? bytes_text(*each.at_bits) : "",
				each.size_bits ? bytes_text(*each.size_bits) : "", type_text(each), each.unit.name,
				each.item->meaning});
	return rows;
}

std::string to_json(const Model &model, const std::vector<Placed> &placed)
{
	Json made = {{"trace", model.name}, {"meaning", model.meaning}};
	auto magics = Json::array();
	for (const Magic &magic : model.magics) {
		auto bytes = Json::array();
		for (const char c : magic.bytes)
			bytes.push_back(static_cast<unsigned char>(c));
		magics.push_back({{"at_byte", magic.at_byte}, {"bytes", std::move(bytes)}});
	}
	made["magics"] = std::move(magics);
	auto blocks = Json::array();
	if (model.file)
		blocks.push_back(block_json(*model.file, "the file", placed, nullptr));
	if (model.segment)
		blocks.push_back(block_json(*model.segment, "every segment", placed, nullptr));
	const Block *common = model.common ? &*model.common : nullptr;
	for (const Block &record : model.records)
		blocks.push_back(block_json(record, record.name, placed, common));
	made["blocks"] = std::move(blocks);
	made["names"] = names_json(model.names);
	return made.dump(1, '\t', false, Json::error_handler_t::replace);
}

} // namespace monitor::trace::tdl
