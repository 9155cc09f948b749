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

constexpr const char *origins[] = {"1970", "boot", "the first record", "the segment", "the record before"};
constexpr const char *relations[] = {"is", "is not", "is at least", "is at most", "has", "lacks"};
constexpr const char *checksums[] = {"", "sum8", "sum16", "sum32", "xor8", "crc32"};

// Negative numbers are given in two's complement.
Json number(std::uint64_t value, bool is_negative)
{
	return is_negative ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

bool is_negative(const Field &field)
{
	return field.is_signed && static_cast<std::int64_t>(*field.always) < 0;
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
	std::string text = time.parts.front().text;
	if (time.parts.size() > 1)
		text += " plus " + time.parts.back().text;
	text += std::string(" since ") + origins[static_cast<std::size_t>(time.origin)];
	return text + (time.wraps ? " wrapping" : "") + (time.may_step_back ? " may step back" : "");
}

std::string condition_text(const std::vector<Condition> &conditions)
{
	std::string text;
	for (const Condition &condition : conditions) {
		text += (text.empty() ? "" : " and ") + condition.field.text + ' ' +
			relations[static_cast<std::size_t>(condition.relation)] + ' ';
		for (const Constant &constant : condition.values) {
			text += &constant == condition.values.data() ? "" : " or ";
			text += constant.name ? constant.name.text
					      : json_dump(number(constant.number, constant.is_negative));
		}
	}
	return text;
}

std::string scalar_text(const Field &field, bool is_real)
{
	if (is_real && field.bits == comp_t_bits)
		return "comp_t";
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
	if (placed.big_endian && field.bits != 8)
		text += ", big endian";
	if (field.names)
		text += ", named " + field.names.text;
	if (field.always)
		text += ", always " + json_dump(number(*field.always, is_negative(field)));
	if (field.checksum != Checksum::none)
		text += std::string(", checksum ") + checksums[static_cast<std::size_t>(field.checksum)];
	return text + (!placed.whens.empty() ? ", not always present" : "");
}

Json amount_json(const Amount &amount)
{
	if (!amount.field)
		return {{"plus", amount.plus}};
	return {{"field", amount.field.text}, {"times", amount.times}, {"plus", amount.plus}};
}

Json conditions_json(const std::vector<Condition> &conditions)
{
	auto all = Json::array();
	for (const Condition &condition : conditions) {
		auto values = Json::array();
		for (const Constant &constant : condition.values)
			values.push_back(constant.name ? Json(constant.name.text)
						       : number(constant.number, constant.is_negative));
		all.push_back({{"field", condition.field.text},
			       {"relation", relations[static_cast<std::size_t>(condition.relation)]},
			       {"values", std::move(values)}});
	}
	return all;
}

// The type of a field, in parts.
void put_type(const Placed &placed, Json &made)
{
	using Type = Field::Type;
	constexpr const char *kinds[] = {"integer", "real", "text", "block", "list"};
	const Item &item = *placed.item;
	const Field &field = item.field;
	const bool is_list = field.type == Type::list;
	const bool has_extent = item.kind == Item::Kind::group ? item.is_repeated : field.type >= Type::text;
	if (item.kind == Item::Kind::filler_to) {
		made["kind"] = "filler";
		made["to_multiple_of_bytes"] = item.multiple_bytes;
		return;
	}
	made["kind"] = item.kind == Item::Kind::group    ? "group"
		       : item.kind == Item::Kind::filler ? "filler"
							 : kinds[static_cast<std::size_t>(field.type)];
	if (has_extent && field.extent == Field::Extent::amount)
		made["amount"] = amount_json(field.amount);
	else if (has_extent)
		made["amount"] = field.extent == Field::Extent::to_end ? "to the end" : "until zero";
	if (item.kind == Item::Kind::group)
		return;
	if (field.type <= Type::real || is_list) {
		const bool is_real = is_list ? field.is_real_list : field.type == Type::real;
		Json number = {{"signed", field.is_signed || is_real},
			       {"byte_order", placed.big_endian ? "big" : "little"},
			       {"own_byte_order", field.big_endian.has_value()},
			       {"base", field.base}};
		if (is_list)
			made["element"] = {{"kind", is_real ? "real" : "integer"}, {"size_bits", field.bits}};
		(is_list ? made["element"] : made).update(number);
	}
	if (field.is_hidden)
		made["hidden"] = true;
	if (field.names)
		made["names"] = field.names.text;
	if (field.always)
		made["always"] = number(*field.always, is_negative(field));
	if (field.checksum != Checksum::none) {
		made["checksum"] = {{"method", checksums[static_cast<std::size_t>(field.checksum)]}};
		if (field.first)
			made["checksum"].update({{"first", field.first.text}, {"last", field.last.text}});
	}
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
		put_type(each, field);
		std::vector<Condition> conditions;
		for (const Item *when : each.whens)
			conditions.insert(conditions.end(), when->conditions.begin(), when->conditions.end());
		if (!conditions.empty())
			field["conditions"] = conditions_json(conditions);
		if (!each.unit.name.empty())
			field["unit"] = each.unit.name;
		if (each.unit.per_second)
			field["per_second"] = each.unit.per_second;
		if (!each.item->meaning.empty())
			field["meaning"] = each.item->meaning;
		all.push_back(std::move(field));
	}
	return all;
}

// The value of `length is` or `content is`: (field * times + plus) units, rounded up.
Json size_json(const Size &size, const std::string &block, const std::vector<Placed> &placed)
{
	Json made = amount_json(size.amount);
	std::uint64_t unit_bits = size.unit_bits;
	for (const Placed &each : placed)
		if (!size.has_unit && each.name == size.amount.field.text && each.unit.bits && each.block == block)
			unit_bits = each.unit.bits;
	made["unit_bits"] = unit_bits;
	made["multiple_bytes"] = size.multiple_bytes;
	return made;
}

Json time_json(const Time &time)
{
	auto fields = Json::array();
	for (const Name &part : time.parts)
		fields.push_back(part.text);
	return {{"fields", std::move(fields)},
		{"since", origins[static_cast<std::size_t>(time.origin)]},
		{"wrapping", time.wraps},
		{"may_step_back", time.may_step_back}};
}

Json block_json(const Block &block, const std::string &name, const std::vector<Placed> &placed, const Block *common)
{
	Json made = {{"block", name}};
	if (!block.meaning.empty())
		made["meaning"] = block.meaning;
	if (!block.conditions.empty())
		made.update(
		    {{"when", condition_text(block.conditions)}, {"conditions", conditions_json(block.conditions)}});
	const auto &length = block.length || !common ? block.length : common->length;
	const auto &time = block.time || !common ? block.time : common->time;
	if (length)
		made.update({{"length", size_text(*length)}, {"length_parts", size_json(*length, name, placed)}});
	if (block.content)
		made.update({{"content", size_text(*block.content)},
			     {"content_parts", size_json(*block.content, name, placed)}});
	if (time)
		made.update({{"time", time_text(*time)}, {"time_parts", time_json(*time)}});
	const Name &cpu = block.cpu || !common ? block.cpu : common->cpu;
	const std::pair<const char *, const Name *> roles[] = {{"cpu", &cpu},
							       {"begin", &block.begin},
							       {"finish", &block.end},
							       {"lost", &block.lost},
							       {"number", &block.number}};
	for (const auto &[role, field] : roles)
		if (*field)
			made[role] = field->text;
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
						: Json{{"first", number(label.first, label.is_negative)},
						       {"last", number(label.last, label.is_negative)}};
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

std::vector<FieldRow> rows_of(const std::vector<Placed> &placed)
{
	std::vector<FieldRow> rows;
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
	made["byte_order"] = model.big_endian ? "big" : "little"; // of fields without a byte order
	auto magics = Json::array();
	for (const Magic &magic : model.magics) {
		auto bytes = Json::array();
		for (const char c : magic.bytes)
			bytes.push_back(static_cast<unsigned char>(c));
		Json means = {{"at_byte", magic.at_byte}, {"bytes", std::move(bytes)}};
		means["byte_order"] = magic.big_endian.value_or(model.big_endian) ? "big" : "little";
		for (const auto &[field, unit] : magic.units)
			means["units"][field.text] = {{"unit", unit.name}, {"per_second", unit.per_second}};
		magics.push_back(std::move(means));
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
	return json_dump(made, 1);
}

} // namespace monitor::trace::tdl
