// SPDX-License-Identifier: MIT
// The animation of the window: which moment is shown, how fast the next ones follow, and the scenes themselves, which the server
// makes (scenes.h). They are one step apart, and are asked for before they are shown. Index 0 is the moment that was last
// sought. Drawn by stage.js.
import {Stage} from './stage.js';
import {duration, moment, quoted} from './text.js';

const element = id => document.getElementById(id);
const atOnce = 60, ahead = 90, kept = 600;                  // scenes; the first is max_steps in scenes.h
const frameTime = 40, calmFrameTime = 500, longest = 10e9; // ms from scene to scene; ns that a window takes at first, at least
// As `monitor play --speed` has them: seconds of the trace in each second.
const powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7], numbers = powers.flatMap(power => [1, 2, 5].map(digit => digit * power)).filter(number => number <= 1e7);
const speeds = [...numbers.slice(1).reverse().map(parts => ({times: 1, parts})), ...numbers.filter(times => times <= 1000).map(times => ({times, parts: 1}))];

export class Scenes {
	constructor(lanes) {
		Object.assign(this, {lanes, source: lanes.source, isOpen: false, isRunning: false, cache: new Map(), loading: null, drawTimes: []});
		this.stage = new Stage(element('stage'), lanes);
		this.keys = {' ': () => this.run(!this.isRunning), '+': () => this.faster(1), '-': () => this.faster(-1), ',': () => this.go(-1), '.': () => this.go(1)};
		const buttons = {'scenes-run': ' ', 'scenes-faster': '+', 'scenes-slower': '-', 'scenes-back': ',', 'scenes-on': '.'};
		for (const [id, key] of Object.entries(buttons))
			element(id).addEventListener('click', this.keys[key]);
		element('scenes-close').addEventListener('click', () => this.close());
		element('scenes-at').addEventListener('input', event => this.seek(Number(event.target.value)));
		element('stage').addEventListener('pointermove', event => { element('stage-under').textContent = this.stage.under(event.offsetX, event.offsetY); });
	}
	// `at`: ticks where it starts, or where it is first known what runs.
	open(at) {
		this.isOpen = this.isNew = true;
		element('scenes').hidden = false;
		element('scenes-button').ariaPressed = 'true';
		const ns = this.lanes.span * this.source.nsPerTick;
		this.speed = Math.max(0, speeds.findLastIndex(({times, parts}) => ns / times * parts >= longest));
		this.stage.resize();
		this.seek(at);
		this.follow();
		element('scenes').scrollIntoView({block: 'nearest'});
		element('stage').focus({preventScroll: true});
	}
	close() {
		if (this.giveUp())
			this.source.scenes(0, 0, 0); // the server, too
		this.isOpen = this.isRunning = false;
		this.cache.clear();
		this.showState('');
		element('scenes').hidden = element('moment').hidden = true;
		element('scenes-button').ariaPressed = 'false';
	}
	// The window is another one.
	follow() {
		if (!this.isOpen || !this.source.scenes)
			return;
		const from = Math.round(this.lanes.window.from), to = Math.round(this.lanes.window.to), slider = element('scenes-at');
		if (this.time < from || this.time > to)
			this.seek(from);
		Object.assign(slider, {min: from, max: to, step: 1});
		slider.value = this.time;
		this.fill();
	}
	resize() {
		if (this.isOpen && this.source.scenes)
			this.stage.resize();
		this.dirty = true;
	}
	get frameTime() {
		return this.stage.calm.matches ? calmFrameTime : frameTime;
	}
	get index() {
		return Math.floor(this.at);
	}
	get time() {
		return this.origin + this.index * this.step;
	}
	get first() {
		return Math.ceil((Math.round(this.lanes.window.from) - this.origin) / this.step);
	}
	get last() {
		return Math.floor((Math.min(Math.round(this.lanes.window.to), this.source.about.ticks) - this.origin) / this.step);
	}
	// The scenes that are on their way. Whether there were any.
	giveUp() {
		const {loading} = this;
		loading?.abort();
		this.loading = null;
		return loading;
	}
	// Gives up what is on its way.
	seek(ticks) {
		const {times, parts} = speeds[this.speed];
		this.origin = Math.round(Math.min(Math.max(ticks, 0), this.source.about.ticks));
		this.step = Math.max(1, Math.round(this.frameTime * 1e6 * times / parts / this.source.nsPerTick));
		this.at = 0;
		this.giveUp();
		this.cache.clear();
		this.shown = null;
		element('scenes-speed').textContent = parts > 1 ? `1/${parts} of real time` : times > 1 ? `${times} times real time` : 'real time';
		this.showState('reading...');
		this.fill();
	}
	faster(by) {
		const speed = this.speed + by;
		if (!speeds[speed])
			return;
		this.speed = speed;
		this.seek(this.time);
	}
	run(isRunning) {
		if (isRunning && this.index >= this.last)
			this.seek(Math.round(this.lanes.window.from));
		this.isRunning = isRunning;
		this.before = undefined;
		element('scenes-run').textContent = isRunning ? 'pause' : 'run';
		this.showMoment();
		this.fill();
	}
	go(steps) {
		if (this.isRunning)
			this.run(false);
		this.at = Math.min(Math.max(this.index + steps, this.first), this.last);
		if (!this.cache.has(this.index))
			this.showState('reading...');
		this.fill();
	}
	showState(text) {
		element('scenes-state').textContent = text;
		this.dirty = true;
	}
	// The next that has to be asked for: [its index, how many].
	wanted() {
		const at = this.index, has = index => this.cache.has(index);
		if (!has(at))
			return has(at + 1) && !this.isRunning ? [Math.max(this.first, at - atOnce + 1), at - Math.max(this.first, at - atOnce + 1) + 1] : [at, 1];
		for (let next = at + 1; next <= Math.min(this.last, at + (this.isRunning ? ahead : 1)); ++next)
			if (!has(next))
				return [next, Math.min(atOnce, this.last - next + 1)];
		return null;
	}
	async fill() {
		const wanted = this.isOpen && !this.loading && this.wanted();
		if (!wanted)
			return;
		const [index, count] = wanted, from = this.origin + index * this.step, loading = this.loading = new AbortController();
		try {
			const scenes = await this.source.scenes(from, from + count * this.step, count, loading.signal);
			if (loading !== this.loading)
				return;
			const {known_from: knownFrom} = scenes[0] ?? {}, isEarly = this.isNew && knownFrom <= this.lanes.window.to;
			this.isNew = false;
			if (isEarly) {
				this.loading = null;
				this.seek(knownFrom);
				return;
			}
			scenes.forEach((scene, i) => this.cache.set(index + i, scene));
			for (const old of this.cache.keys())
				if (this.cache.size > kept && Math.abs(old - this.index) > kept / 2)
					this.cache.delete(old);
		} catch (error) {
			if (loading === this.loading) {
				this.run(false); // asks for nothing yet
				this.loading = null;
				this.showState(error.message);
			}
			return;
		}
		this.loading = null;
		this.dirty = true;
		this.fill();
	}
	// In each frame.
	frame(now) {
		if (!this.isOpen || !this.source.scenes)
			return;
		const begin = performance.now();
		if (this.isRunning)
			this.pass(now - (this.before ?? now));
		this.before = now;
		this.place();
		const scene = this.cache.get(this.index);
		if (scene && scene !== this.shown) {
			this.present(scene, now);
			this.fill();
		}
		if (!this.dirty && !this.moves)
			return;
		this.dirty = false;
		this.moves = this.stage.draw(now, this.isRunning, this.at - this.index);
		this.drawTimes.push(performance.now() - begin);
		if (this.drawTimes.length > 1000)
			this.drawTimes.shift();
	}
	// `ms` have passed. Waits for a scene that is still on its way.
	pass(ms) {
		let next = Math.min(this.at + Math.min(ms, 200) / this.frameTime, this.last);
		for (let index = this.index + 1; index <= Math.floor(next); ++index)
			if (!this.cache.has(index))
				next = Math.max(this.at, index - 0.001);
		this.at = next;
		if (this.index >= this.last && this.cache.has(this.index))
			this.run(false);
	}
	// Those between it and the one before it pass by without being drawn, but their wake-ups are shown.
	present(scene, now) {
		const by = this.shown ? this.index - this.shownAt : NaN, follows = by > 0 && by < 10;
		for (let index = this.shownAt + 1; follows && index < this.index; ++index)
			if (this.cache.has(index))
				this.stage.show(this.cache.get(index), now, false);
		this.stage.show(scene, now, !follows && by !== -1);
		this.shown = scene;
		this.shownAt = this.index;
		this.dirty = true;
		element('scenes-at').value = scene.time;
		if (element('scenes-state').textContent === 'reading...')
			this.showState('');
		this.showMoment();
	}
	showMoment() {
		if (!this.shown)
			return;
		const at = moment(this.source.ns(this.shown.time), 1);
		element('scenes-moment').textContent = `${at}, steps of ${duration(this.step * this.source.nsPerTick)}`;
		element('scenes-messages').replaceChildren(...this.shown.messages.map(({at, text}) => {
			const line = document.createElement('li');
			line.textContent = `${at}  ${text}`;
			return line;
		}));
		const notes = [this.shown.known_from ? `; what runs is first known at ${moment(this.source.ns(this.shown.known_from), 1)}` : '', this.shown.wakings_are_known ? '' : '; wake-ups were not recorded'];
		element('scenes-note').textContent = notes.join('');
		if (!this.isRunning) // what is read aloud is of a moment that stays
			element('stage').setAttribute('aria-label', this.stage.words());
		element('scenes-command').textContent = `monitor play ${quoted(this.source.about.directory)} --frame --at ${at.replace(' s', '')}`;
	}
	// The line at this moment in the lanes.
	place() {
		const line = element('moment'), {lanes} = this, canvas = lanes.canvas, x = lanes.x(this.time);
		line.hidden = x < lanes.label || x > lanes.width;
		line.style.height = `${canvas.offsetHeight}px`;
		line.style.transform = `translate(${canvas.offsetLeft + x}px, ${canvas.offsetTop}px)`;
	}
}
