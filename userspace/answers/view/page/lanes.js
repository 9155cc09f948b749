// SPDX-License-Identifier: MIT
// The lanes of the window: which thread each CPU ran, where each thread ran and when it waited for a CPU, or when activities
// were open. Drawn as a whole for each frame, from about one slice a pixel and lane. What is still on its way is drawn from a coarser level: never blank
// where something is.
import {colour, faint, hatched, ink, offlineKey, paletteSize, paper, place, runColour, unknownKey, waitColour} from './colours.js';
import {words} from './source.js';
import {count, duration, moment} from './text.js';

const label = 150, axisHeight = 18, laneHeight = 20, gap = 3;
const tileBins = 1024, keptTiles = 400, maxRows = 40, maxCpus = 256;
// Lanes of groups of threads: how about.groups calls them, and the first letter of their lanes.
export const groupKinds = {processes: {by: 'process', letter: 'p'}, commands: {by: 'command', letter: 'm'}, cgroups: {by: 'cgroup', letter: 'g'}};

// Parts of lanes by level, the least recently used of which are forgotten.
class Tiles {
	constructor(source, changed) {
		this.source = source;
		this.changed = changed;
		this.cache = new Map();
		this.loading = 0;
		this.failed = ''; // why the last one did not come
	}
	// An array of slices for each lane; undefined: on its way.
	get(lanes, level, number) {
		const key = `${lanes}/${level}/${number}`, tile = this.cache.get(key);
		if (tile) {
			this.cache.delete(key);
			this.cache.set(key, tile);
		} else if (!this.cache.has(key)) {
			this.cache.set(key, null);
			++this.loading;
			this.source.slices(level, number * tileBins, (number + 1) * tileBins, lanes)
				.then(slices => {
					this.cache.set(key, slices);
					this.failed = '';
				}, error => { // asked for again, but not in every frame
					this.failed = error.message;
					setTimeout(() => this.cache.delete(key), 2000);
				})
				.finally(() => {
					--this.loading;
					this.changed();
				});
			for (const [old, value] of this.cache) {
				if (this.cache.size <= keptTiles)
					break;
				if (value)
					this.cache.delete(old);
			}
		}
		return tile ?? undefined;
	}
	known(lanes, level, number) {
		return this.cache.get(`${lanes}/${level}/${number}`) ?? undefined;
	}
}

export class Lanes {
	constructor(canvas, source, changed) {
		this.canvas = canvas;
		this.source = source;
		this.tiles = new Tiles(source, changed);
		this.window = {from: 0, to: source.about.ticks};
		this.byTime = source.about.threads.map((_, place) => place).sort((a, b) => source.about.threads[b].ran - source.about.threads[a].ran);
		this.found = null; // places of threads; null: all
		this.wanted = ''; // the text that is searched for
		this.show('cpus');
	}
	// cpus, threads, activities, or one of groupKinds. `only`: threads of these places.
	show(what, only = null) {
		this.what = what;
		this.only = only;
		const {cpus, threads, groups, activities} = this.source.about, kind = groupKinds[what];
		this.perRow = what === 'threads' ? 2 : 1;
		if (what === 'cpus') {
			const places = cpus.map((_, place) => place);
			const shown = cpus.length > maxCpus ? places.sort((a, b) => cpus[b].busy - cpus[a].busy).slice(0, maxCpus).sort((a, b) => a - b) : places;
			this.rows = shown.map(place => ({title: `CPU ${cpus[place].cpu}`, parallel: 1}));
			this.lanes = shown.length < cpus.length ? shown.map(place => `c${place}`).join(',') : 'c*';
		} else if (what === 'activities') {
			const isFound = activity => !this.found || activity.name.toLowerCase().includes(this.wanted) || activity.threads.some(place => this.found.has(place));
			const shown = activities.kinds.map((activity, place) => ({activity, lane: `a${place}`}))
				.filter(({activity, lane}) => this.source.has(lane) && isFound(activity)).slice(0, maxRows);
			this.rows = shown.map(({activity}) => ({title: `${activity.name} of ${activity.pid} ${activity.process || '?'}`, activity, parallel: 1}));
			this.lanes = shown.map(({lane}) => lane).join(',');
		} else if (kind) {
			const shown = groups[kind.by].map((group, place) => ({group, lane: `${kind.letter}${place}`}))
				.filter(({group, lane}) => this.source.has(lane) && group.ran > 0 && (!this.found || group.threads.some(place => this.found.has(place)))).slice(0, maxRows);
			this.rows = shown.map(({group}) => ({title: group.pid ? `${group.name || '?'} ${group.pid}` : group.name || '?', group, parallel: Math.min(group.number, cpus.length)}));
			this.lanes = shown.map(({lane}) => lane).join(',');
		} else {
			const places = this.byTime.filter(place => (this.found?.has(place) ?? true) && (only?.has(place) ?? true)).slice(0, maxRows);
			this.rows = places.map(place => ({title: this.threadTitle(place), thread: threads[place], parallel: Math.min(threads[place].others ?? 1, cpus.length)}));
			this.lanes = places.flatMap(place => [`r${place}`, `w${place}`]).join(',');
		}
		this.resize();
	}
	find(text) {
		const wanted = this.wanted = text.trim().toLowerCase();
		this.found = wanted === '' ? null : new Set(this.source.about.threads.flatMap(({name, tid, pid}, place) =>
			name.toLowerCase().includes(wanted) || String(tid) === wanted || String(pid) === wanted ? [place] : []));
		this.show(this.what, this.only);
	}
	threadTitle(place) {
		const thread = this.source.about.threads[place];
		if (thread?.others)
			return `${count(thread.others)} others, ${thread.name || '?'}`;
		return thread ? `${thread.name || '?'} ${thread.tid}` : key === offlineKey ? 'offline' : 'unknown';
	}
	// What they mean, as legend() in main.js has it.
	get colours() {
		if (this.what === 'threads')
			return [['runs', runColour], ['waits for a CPU', waitColour]];
		if (!this.hasThreads)
			return [['share of the CPUs', runColour]];
		const threads = [0, 1, 2].map(colour), isCpus = this.what === 'cpus';
		return [[isCpus ? `a thread, in one of ${paletteSize} colours` : 'open, in the colour of the thread that has most', ...threads],
			...(isCpus ? [['unknown'], ['idle', paper()]] : [])];
	}
	// Whether the keys of slices are places of threads.
	get hasThreads() {
		return this.what === 'cpus' || this.what === 'activities';
	}
	resize() {
		const scale = devicePixelRatio;
		this.width = this.canvas.clientWidth;
		this.label = Math.min(label, this.width / 3);
		this.height = axisHeight + Math.max(1, this.rows.length) * (laneHeight + gap);
		this.canvas.style.height = `${this.height}px`;
		this.canvas.width = this.width * scale;
		this.canvas.height = this.height * scale;
		this.context = this.canvas.getContext('2d', {alpha: false});
		this.context.setTransform(scale, 0, 0, scale, 0, 0);
	}
	get span() {
		return this.window.to - this.window.from;
	}
	x(ticks) {
		return this.label + (ticks - this.window.from) / this.span * (this.width - this.label);
	}
	ticks(x) {
		return this.window.from + (x - this.label) / (this.width - this.label) * this.span;
	}
	get level() {
		return this.source.level(this.span / (this.width - this.label));
	}
	// Calls visit(slices of the lanes, width of a bin, first bin, end) for parts that together are the window.
	visible(visit) {
		const {about} = this.source;
		if (this.lanes === '')
			return;
		const level = this.level, width = this.source.width(level), ticks = width * tileBins;
		for (let number = Math.max(0, Math.floor(this.window.from / ticks)); number * ticks < Math.min(this.window.to, about.ticks); ++number) {
			let tile = this.tiles.get(this.lanes, level, number), at = level, n = number;
			while (!tile && at + 1 < about.levels) {
				n = Math.floor(n / 4);
				tile = this.tiles.known(this.lanes, ++at, n);
			}
			if (tile)
				visit(tile, this.source.width(at), number * ticks / this.source.width(at), (number + 1) * ticks / this.source.width(at));
		}
	}
	// How many activities are open at once in the window, at the most: a lane is as high as that. Slices of a few bins may be
	// longer than these.
	fitActivities() {
		for (const row of this.rows)
			row.parallel = 1;
		this.visible((tile, width, from, to) => tile.forEach((slices, row) => {
			const {activity} = this.rows[row];
			for (let i = 0; i < slices.length; i += words) {
				const open = this.busy(slices, i) / (slices[i + 1] * width);
				if (slices[i] < to && slices[i] + slices[i + 1] > from)
					this.rows[row].parallel = Math.min(activity.threads.length, Math.max(this.rows[row].parallel, slices[i + 1] < 3 ? Math.floor(open) : Math.round(open)));
			}
		}));
	}
	busy(slices, i) {
		return slices[i + 4] + slices[i + 5] * 2 ** 32;
	}
	draw() {
		const context = this.context;
		context.fillStyle = paper();
		context.fillRect(0, 0, this.width, this.height);
		this.drawn = 0;
		const ticksOfPixel = this.span / (this.width - this.label);
		this.grid(context, ticksOfPixel);
		if (this.what === 'activities')
			this.fitActivities();
		const runs = [], byColour = Array.from({length: paletteSize}, () => []), unknown = [], offline = [], waits = [], faded = [], texts = [];
		this.visible((tile, width, from, to) => {
			for (let lane = 0; lane < tile.length; ++lane) {
				const slices = tile[lane], row = Math.floor(lane / this.perRow), isWait = this.perRow === 2 && lane % 2 === 1;
				const top = axisHeight + row * (laneHeight + gap);
				for (let i = 0; i < slices.length; i += words) {
					const begin = Math.max(slices[i], from), end = Math.min(slices[i] + slices[i + 1], to);
					const left = Math.max(this.label, this.x(begin * width)), right = Math.min(this.width, this.x(end * width));
					if (end <= begin || right <= this.label || left >= this.width)
						continue;
					const key = slices[i + 2], busy = this.busy(slices, i), {activity} = this.rows[row];
					const share = Math.min(1, busy / (slices[i + 1] * width * this.rows[row].parallel)), height = Math.max(1, (laneHeight - 2) * (isWait ? 0.35 : share));
					const box = [left, top + laneHeight - height, Math.max(right - left, 0.6), height];
					++this.drawn;
					const isFaded = this.what === 'cpus' && this.found && !this.found.has(key);
					(isWait ? waits : !this.hasThreads ? runs : key === unknownKey ? unknown : key === offlineKey ? offline : isFaded ? faded : byColour[place(key)]).push(box);
					if (!isWait && !this.rows[row].group && right - left > 50 && key !== unknownKey && slices[i + 3] === 1 && !isFaded)
						texts.push([left + 3, top + laneHeight / 2 + 4, right - left - 6, activity?.threads.length === 1 ? duration(busy * this.source.nsPerTick) : this.hasThreads ? this.threadTitle(key) : `CPU ${key}`]);
				}
			}
		});
		const fill = (boxes, style) => {
			context.fillStyle = style;
			for (const [left, top, width, height] of boxes)
				context.fillRect(left, top, width, height);
		};
		byColour.forEach((boxes, i) => fill(boxes, colour(i)));
		fill(runs, runColour);
		fill(faded, faint());
		fill(waits, waitColour);
		fill(unknown, hatched(context));
		fill(offline, faint());
		context.font = '11px system-ui';
		context.fillStyle = this.what === 'threads' ? '#fff' : '#000';
		for (const [left, base, width, text] of texts)
			context.fillText(text.slice(0, Math.floor(width / 6)), left, base);
		this.arrows(context);
		this.titles(context);
		if (this.marked) {
			context.fillStyle = '#0072b244';
			context.fillRect(this.marked[0], 0, this.marked[1] - this.marked[0], this.height);
		}
	}
	// From who woke the thread of the story to it.
	arrows(context) {
		const {story} = this;
		if (!story?.rows.length || this.what !== 'threads')
			return;
		const middle = thread => {
			const row = this.rows.findIndex(({thread: shown}) => shown?.number === thread);
			return row < 0 ? undefined : axisHeight + row * (laneHeight + gap) + laneHeight / 2;
		};
		context.strokeStyle = context.fillStyle = ink();
		for (const {what, to, waker_thread: waker} of story.rows) {
			const begin = middle(waker), end = middle(story.thread), x = this.x(to);
			if (what !== 'sleeps' || begin === undefined || end === undefined || x < this.label || x > this.width)
				continue;
			const tip = end > begin ? -4 : 4;
			context.beginPath();
			context.moveTo(x, begin);
			context.lineTo(x, end);
			context.lineTo(x - 3, end + tip);
			context.moveTo(x, end);
			context.lineTo(x + 3, end + tip);
			context.stroke();
		}
	}
	// Calls visit(slices, index, width of a bin, part of the row, distance) for the slices of a row that are within `ticks` of
	// the time `at`.
	near(row, at, ticks, visit) {
		this.visible((tile, width, from, to) => {
			for (let part = 0; part < this.perRow; ++part) {
				const slices = tile[row * this.perRow + part] ?? [];
				for (let i = 0; i < slices.length; i += words) {
					const begin = Math.max(slices[i], from) * width, end = Math.min(slices[i] + slices[i + 1], to) * width;
					const distance = Math.max(begin - at, at - end, 0);
					if (begin < end && distance <= ticks)
						visit(slices, i, width, part, distance);
				}
			}
		});
	}
	// The number of the thread at a place of the canvas, or of the nearest one that is a few pixels beside.
	threadAt(x, y) {
		const row = Math.floor((y - axisHeight) / (laneHeight + gap));
		if (row < 0 || row >= this.rows.length)
			return undefined;
		if (!this.hasThreads)
			return this.rows[row].thread?.number ?? undefined;
		let nearest = Infinity, number;
		this.near(row, this.ticks(x), this.span / (this.width - this.label) * 3, (slices, i, width, part, distance) => {
			if (slices[i + 2] === unknownKey || distance >= nearest)
				return;
			nearest = distance;
			number = this.source.about.threads[slices[i + 2]]?.number ?? undefined;
		});
		return number;
	}
	// The group of threads whose row this is, or undefined.
	groupAt(y) {
		return this.rows[Math.floor((y - axisHeight) / (laneHeight + gap))]?.group;
	}
	titles(context) {
		context.fillStyle = paper();
		context.fillRect(0, 0, this.label, this.height);
		context.fillStyle = ink();
		this.rows.forEach(({title}, row) =>
			context.fillText(title.slice(0, Math.floor(this.label / 6.5)), 0, axisHeight + row * (laneHeight + gap) + laneHeight / 2 + 4));
		if (this.rows.length === 0)
			context.fillText(this.what === 'activities' ? 'no activity is found' : 'no thread is found', 0, axisHeight + 14);
	}
	grid(context, ticksOfPixel) {
		context.font = '11px system-ui';
		const {nsPerTick, beginNs} = this.source, goal = ticksOfPixel * 110 * nsPerTick;
		const step = [1, 2, 5, 10].map(times => times * 10 ** Math.floor(Math.log10(goal))).find(step => step >= goal);
		for (let ns = Math.ceil(this.source.ns(this.window.from) / step) * step; ns < this.source.ns(this.window.to); ns += step) {
			const x = this.x((ns - beginNs) / nsPerTick);
			context.fillStyle = faint();
			context.fillRect(x, 0, 1, this.height);
			context.fillStyle = ink();
			context.fillText(moment(ns, step), x + 3, 11);
		}
	}
	// What is at a place of the canvas, in words.
	under(x, y) {
		const row = Math.floor((y - axisHeight) / (laneHeight + gap));
		if (x < this.label || row < 0 || row >= this.rows.length)
			return '';
		let text = '';
		const at = this.ticks(x), nsPerTick = this.source.nsPerTick, {group, activity} = this.rows[row];
		this.near(row, at, 0, (slices, i, width, part) => {
			const busy = this.busy(slices, i) * nsPerTick, exact = slices[i + 3] === 1, long = slices[i + 1] * width * nsPerTick;
			if (group) {
				text += `${duration(busy)} of CPU time in ${duration(long)}`;
				return;
			}
			if (activity) {
				const who = this.threadTitle(slices[i + 2]), began = slices[i + 3] ? `${count(slices[i + 3])} began` : 'began before', open = busy / long;
				text += `${text ? '; ' : ''}${exact && activity.threads.length === 1 ? `${duration(busy)} by ${who}` : `${open.toFixed(1)} open at once in ${duration(long)}, ${began}, ${open > 1.05 ? `by ${who} and others` : `most of it by ${who}`}`}`;
				return;
			}
			const who = part === 1 ? 'waits for a CPU' : slices[i + 2] === unknownKey ? 'unknown: events are missing, or none has shown yet who runs'
				: this.what === 'cpus' ? this.threadTitle(slices[i + 2]) : `on CPU ${slices[i + 2]}`;
			text += `${text ? '; ' : ''}${who}, ${exact ? duration(busy) : `most of ${slices[i + 3]} times, ${duration(busy)} in ${duration(width * nsPerTick)}`}`;
		});
		if (activity)
			text = `${text || 'none is known to be open'} (in the whole recording ${count(activity.count)} times, ${duration(activity.total * nsPerTick)} in all, the longest ${duration(activity.longest * nsPerTick)})`;
		return `${this.rows[row].title} at ${moment(this.source.ns(at), this.span / this.width * nsPerTick)}: ${text || (this.what === 'cpus' ? 'idle' : group ? `none of its ${count(group.number)} threads runs` : 'neither runs nor waits for a CPU')}`;
	}
}
