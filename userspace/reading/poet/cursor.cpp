// SPDX-License-Identifier: MIT
// The public cursor: a walk, the item it is on, and how many events precede it.
#include "poet/cursor.hpp"

#include <optional>
#include <utility>

#include "filter_body.h"
#include "walk.h"

namespace poet {
namespace {

// Moves by this many events or more use the index.
constexpr std::uint64_t many_events = 1u << 17;

} // namespace

class Cursor::Body {
public:
	explicit Body(std::shared_ptr<const detail::Core> core) : core_(std::move(core)), walk_(*core_, found_) {}

	void show_gaps(bool shown) { shows_gaps_ = shown; }

	Item next()
	{
		do {
			if (item_ != Item::none)
				step_over();
			set_next();
		} while (item_ == Item::gap && !shows_gaps_);
		return item_;
	}
	Item previous()
	{
		do {
			is_at_end_ = false;
			if (!walk_.step_back())
				return set_none();
			set_item();
			if (item_ == Item::event && position_)
				--*position_;
		} while (item_ == Item::gap && !shows_gaps_);
		return item_;
	}
	template <class Move> Item filtered(const Filter &filter, Move &&move)
	{
		const Filter::Body &body = filter.body();
		body.require_trace_of(*core_);
		if (body.asks_who_runs())
			throw Error("a cursor does not know who runs (`tid`, `thread`): use visit() with this filter");
		while (move() == Item::event && !body.matches(event())) {
		}
		return item_;
	}

	Item move(std::int64_t events)
	{
		if (events == 0)
			return item_;
		const bool forward = events > 0;
		const std::uint64_t count =
		    forward ? static_cast<std::uint64_t>(events) : 0 - static_cast<std::uint64_t>(events);
		if (count < many_events)
			return move_events(count, forward);
		const std::uint64_t at = position();
		if (forward) { // on an event, the next one counts one more
			const std::uint64_t from = item_ == Item::event ? at : at - 1;
			const std::uint64_t target = from + count;
			return target < count && from + 1 != 0 ? (to_end(), item_) : move_to(target);
		}
		if (count <= at)
			return move_to(at - count);
		to_begin();
		return item_;
	}

	Item move_to(std::uint64_t index)
	{
		const detail::Index &all = core_->index();
		if (index >= all.events()) {
			to_end();
			position_ = all.events();
			return item_;
		}
		const detail::Index::Checkpoint from = all.before_event(index);
		go_to(from.time);
		position_ = from.events;
		do {
			if (item_ != Item::none)
				step_over();
			set_next();
		} while (item_ == Item::gap || (item_ == Item::event && *position_ != index));
		return item_;
	}

	Item seek(std::uint64_t time)
	{
		go_to(time);
		set_next();
		return item_ == Item::gap && !shows_gaps_ ? next() : item_;
	}
	void to_begin()
	{
		walk_.to_begin();
		set_none();
		is_at_end_ = false;
		position_ = 0;
	}
	void to_end()
	{
		walk_.to_end();
		set_none();
		is_at_end_ = true;
		position_.reset();
	}

	Item item() const { return item_; }
	const Event &event() const
	{
		if (item_ != Item::event)
			throw Error("the cursor is not at an event; check item() first");
		return walk_.item().event;
	}
	const Gap &gap() const
	{
		if (item_ != Item::gap)
			throw Error("the cursor is not at a gap; check item() first");
		return walk_.loss().gap;
	}
	const detail::Core &core() const { return *core_; }

	std::uint64_t position()
	{
		if (position_)
			return *position_;
		const detail::Index &all = core_->index();
		if (item_ == Item::none) {
			position_ = is_at_end_ ? all.events() : 0;
			return *position_;
		}
		const detail::Index::Checkpoint from = all.before_time(walk_.item().key);
		Body other(core_);
		other.go_to(from.time);
		other.position_ = from.events;
		other.set_next();
		while (other.item_ != Item::none && !is_at_item_of(other.walk_)) {
			other.step_over();
			other.set_next();
		}
		position_ = other.position_;
		return *position_;
	}

private:
	void set_item()
	{
		item_ = walk_.item().loss < 0 ? Item::event : Item::gap;
		report_problems();
	}
	Item set_none()
	{
		report_problems();
		return item_ = Item::none;
	}
	void set_next()
	{
		is_at_end_ = !walk_.find_next();
		if (is_at_end_)
			set_none();
		else
			set_item();
	}
	// Moves past the current item.
	void step_over()
	{
		if (item_ == Item::event && position_)
			++*position_;
		walk_.step();
	}
	void go_to(std::uint64_t time)
	{
		walk_.seek(time);
		position_.reset();
		item_ = Item::none;
	}
	void report_problems()
	{
		if (found_.total() == reported_)
			return;
		reported_ = found_.total();
		core_->add_problems(found_);
	}

	Item move_events(std::uint64_t count, bool forward)
	{
		while (count > 0) {
			const Item moved = forward ? next() : previous();
			if (moved == Item::none)
				break;
			count -= moved == Item::event ? 1 : 0;
		}
		return item_;
	}

	bool is_at_item_of(const detail::Walk &other) const
	{
		const detail::Window::Item &mine = walk_.item(), &others = other.item();
		if (walk_.stream_index() != other.stream_index() || (mine.loss < 0) != (others.loss < 0))
			return false;
		return mine.loss < 0 ? detail::Access::is_same(mine.event, others.event)
				     : walk_.loss().mark == other.loss().mark;
	}

	std::shared_ptr<const detail::Core> core_;
	monitor::trace::Problems found_;
	std::uint64_t reported_ = 0;
	detail::Walk walk_;
	Item item_ = Item::none;
	bool is_at_end_ = false; // with Item::none: after the last item, not before the first
	bool shows_gaps_ = true;
	std::optional<std::uint64_t> position_ = 0; // events before the position, if known
};

Cursor::Cursor(const Trace &trace) : body_(std::make_unique<Body>(trace.core())) {}
Cursor::~Cursor() = default;
Cursor::Cursor(Cursor &&other) noexcept = default;
Cursor &Cursor::operator=(Cursor &&other) noexcept = default;

void Cursor::show_gaps(bool shown)
{
	body_->show_gaps(shown);
}

Item Cursor::next()
{
	return body_->next();
}

Item Cursor::previous()
{
	return body_->previous();
}

Item Cursor::next(const Filter &filter)
{
	return body_->filtered(filter, [this] { return body_->next(); });
}

Item Cursor::previous(const Filter &filter)
{
	return body_->filtered(filter, [this] { return body_->previous(); });
}

Item Cursor::move(std::int64_t events)
{
	return body_->move(events);
}

Item Cursor::move_to(std::uint64_t index)
{
	return body_->move_to(index);
}

Item Cursor::seek(std::uint64_t time)
{
	return body_->seek(time);
}

Item Cursor::seek_ns(std::int64_t since_begin_ns)
{
	return seek(body_->core().clock().from_begin_ns(since_begin_ns));
}

Item Cursor::seek_wall_ns(std::int64_t wall_ns)
{
	return seek(body_->core().clock().from_wall_ns(wall_ns));
}

void Cursor::to_begin()
{
	body_->to_begin();
}

void Cursor::to_end()
{
	body_->to_end();
}

Item Cursor::item() const
{
	return body_->item();
}

const Event &Cursor::event() const
{
	return body_->event();
}

const Gap &Cursor::gap() const
{
	return body_->gap();
}

std::uint64_t Cursor::time() const
{
	return body_->item() == Item::gap ? body_->gap().from : body_->event().time();
}

std::uint64_t Cursor::position()
{
	return body_->position();
}

} // namespace poet
