// SPDX-License-Identifier: MIT
// One scene of the animation: a box for each CPU with the thread that runs there, its run queue beside it, and below the
// threads that sleep, or the boxes of a layout. A thread that is elsewhere in the next scene moves there for some frames, unless
// the user wants less motion. What is unknown is hatched.
import {colour, faint, hatched, ink, modeColours, paper, place, waitColour} from './colours.js';

const label = 54, boxHeight = 40, slotHeight = 24, slotWidth = 98, gap = 5, headHeight = 20, maxCpus = 128, maxArrows = 64;
const moveTime = 140, arrowTime = 500, maxSleeping = 24; // ms, and as scene_json.h has it
const layoutBox = {height: 86, down: 44, minGap: 50, maxWidth: 260};

const isLight = fill => fill === modeColours.kernel || fill === modeColours.irq || fill === modeColours.unattributed || fill === waitColour;
const middle = ({x, y, width, height}) => [x + width / 2, y + height / 2];

// Where a line from the middle of a box to a point leaves the box.
function rim(box, [toX, toY]) {
	const [x, y] = middle(box), [dx, dy] = [toX - x, toY - y];
	const part = Math.min(1, box.width / 2 / Math.abs(dx || 1e-9), box.height / 2 / Math.abs(dy || 1e-9));
	return [x + dx * part, y + dy * part];
}

export class Stage {
	// `lanes`: whose colours the threads have, and which of them are searched for.
	constructor(canvas, lanes) {
		Object.assign(this, {canvas, lanes, source: lanes.source, tokens: new Map(), arrows: [], scene: null});
		this.calm = matchMedia('(prefers-reduced-motion: reduce)');
		this.places = new Map(); // in about.threads, by ID: the last with it
		this.source.about.threads.forEach(({tid}, number) => this.places.set(tid, number));
	}
	resize() {
		const {cpus, layout} = this.source.about, scale = devicePixelRatio;
		this.width = this.canvas.clientWidth;
		this.cpus = Math.min(cpus.length, maxCpus);
		this.columns = Math.max(1, Math.min(Math.floor(this.width / 420), Math.ceil(this.cpus / 8)));
		const wide = this.width / this.columns;
		this.boxWidth = Math.min(190, (wide - label) * 0.5);
		this.slots = Math.max(1, Math.min(12, Math.floor((wide - label - this.boxWidth - 40) / (slotWidth + gap))));
		this.top = headHeight + Math.ceil(this.cpus / this.columns) * (boxHeight + gap) + slotHeight + gap; // of what is below the CPUs
		this.perRow = Math.max(1, Math.floor(this.width / (slotWidth + gap)));
		this.boxes = layout?.boxes.map(({row, column}) => this.boxAt(row, column, Math.max(...layout.boxes.map(box => box.column))));
		this.height = this.boxes ? Math.max(...this.boxes.map(({y, height}) => y + height)) + headHeight + 4
			: this.top + headHeight + Math.ceil(maxSleeping / this.perRow) * (slotHeight + gap);
		this.canvas.style.height = `${this.height}px`;
		this.canvas.width = this.width * scale;
		this.canvas.height = this.height * scale;
		this.context = this.canvas.getContext('2d', {alpha: false});
		this.context.setTransform(scale, 0, 0, scale, 0, 0);
		this.hatching = hatched(this.context);
		if (this.scene)
			this.arrange(0, true);
	}
	boxAt(row, column, columns) {
		const width = Math.min(layoutBox.maxWidth, Math.max(40, (this.width - (columns - 1) * layoutBox.minGap) / columns));
		const step = columns > 1 ? (this.width - width - 4) / (columns - 1) : 0;
		return {x: 2 + (column - 1) * step, y: this.top + 14 + (row - 1) * (layoutBox.height + layoutBox.down), width, height: layoutBox.height};
	}
	cpuAt(number) {
		const rows = Math.ceil(this.cpus / this.columns), column = Math.floor(number / rows);
		return {x: label + column * this.width / this.columns, y: headHeight + number % rows * (boxHeight + gap), width: this.boxWidth, height: boxHeight};
	}
	// `now`: of requestAnimationFrame. `isJump`: it does not follow the scene before.
	show(scene, now, isJump) {
		this.scene = scene;
		if (isJump)
			this.arrows = [];
		for (const {waker, by, wakee} of scene.wake_ups)
			this.arrows.push({waker, by, wakee, born: now, time: scene.time});
		this.arrows.splice(0, this.arrows.length - maxArrows);
		this.arrange(now, isJump);
	}
	// Gives each thread of the scene its place: a token {at, to: boxes, kind, cpu, slot}.
	arrange(now, isJump) {
		const {scene} = this, threads = new Map(scene.threads.map(thread => [thread.tid, thread])), kept = new Map();
		const put = (tid, to, kind, more) => {
			const thread = threads.get(tid), old = this.tokens.get(tid);
			if (!thread || kept.has(tid))
				return;
			const at = old && !isJump && !this.calm.matches ? this.placeOf(old, now) : to;
			const moves = at.x !== to.x || at.y !== to.y || at.width !== to.width;
			kept.set(tid, {tid, thread, from: at, to, kind, since: moves ? now : -Infinity, ...more});
		};
		const slot = (x, y) => ({x, y, width: slotWidth, height: slotHeight});
		scene.cpus.slice(0, this.cpus).forEach(({cpu, what, tid, mode, doing, ready}, number) => {
			const box = this.cpuAt(number);
			if (what === 'thread' && tid !== 0)
				put(tid, box, 'running', {cpu, mode, doing});
			ready.slice(0, this.slots).forEach((waiting, i) => put(waiting, slot(box.x + box.width + 10 + i * (slotWidth + gap), box.y + (boxHeight - slotHeight) / 2), 'ready', {cpu, slot: i}));
		});
		scene.unplaced.slice(0, Math.max(1, this.perRow - 2)).forEach((tid, i) => put(tid, slot(label + 190 + i * (slotWidth + gap), this.top - slotHeight - gap), 'ready', {slot: i}));
		if (this.boxes)
			this.putInBoxes(scene, threads, put);
		else
			this.slotsOf(scene.sleeping, isJump).forEach((i, tid) =>
				put(tid, slot(i % this.perRow * (slotWidth + gap), this.top + headHeight + Math.floor(i / this.perRow) * (slotHeight + gap)), 'sleeping', {slot: i}));
		this.tokens = kept;
	}
	// Who goes on sleeping stays where it is; the others have the free places.
	slotsOf(sleeping, isJump) {
		const slots = new Map();
		for (const tid of isJump ? [] : sleeping)
			if (this.tokens.get(tid)?.kind === 'sleeping')
				slots.set(tid, this.tokens.get(tid).slot);
		const taken = new Set(slots.values());
		let free = 0;
		for (const tid of sleeping.filter(tid => !slots.has(tid))) {
			while (taken.has(free))
				++free;
			slots.set(tid, free++);
		}
		return slots;
	}
	// As many sleeping threads as find room beside each other in their box.
	putInBoxes(scene, threads, put) {
		const counts = this.boxes.map(() => 0);
		for (const tid of scene.sleeping) {
			const {box: number} = threads.get(tid), box = this.boxes[number], slot = counts[number]++;
			const width = Math.min(slotWidth, box.width - 12), x = box.x + 6 + slot * (width + gap);
			if (x + width <= box.x + box.width)
				put(tid, {x, y: box.y + box.height - slotHeight - 6, width, height: slotHeight}, 'sleeping', {slot});
		}
	}
	// Of a token on its way.
	placeOf({from, to, since}, now) {
		const part = Math.min(1, Math.max(0, (now - since) / moveTime)), eased = part * (2 - part);
		return Object.fromEntries(Object.keys(to).map(key => [key, from[key] + (to[key] - from[key]) * eased]));
	}
	// Whether the next frame would be another one. `part`: of the way to the next scene.
	draw(now, isRunning, part) {
		const {context, scene} = this;
		context.fillStyle = paper();
		context.fillRect(0, 0, this.width, this.height);
		if (!scene)
			return false;
		context.font = '11px system-ui';
		this.drawCpus();
		if (this.boxes)
			this.drawLayout(isRunning && !this.calm.matches ? part : 0);
		else
			this.text(`sleeping: the ${scene.sleeping.length} that changed last of ${scene.counts.sleeping}`, 0, this.top + 13, this.width / 2);
		if (scene.counts.unknown) {
			const x = this.boxes ? 2 : this.width / 2 + 10, y = this.boxes ? this.height - headHeight + 2 : this.top + 2;
			context.fillStyle = this.hatching;
			context.fillRect(x, y, 24, 13);
			this.text(`of ${scene.counts.unknown} threads it is unknown`, x + 30, y + 11, 190);
		}
		let moves = isRunning;
		for (const token of this.tokens.values()) {
			this.drawToken(token, this.placeOf(token, now));
			moves ||= now - token.since < moveTime;
		}
		this.drawArrows(now, isRunning && !this.calm.matches);
		return moves;
	}
	text(text, x, y, width, fill = ink()) {
		this.context.fillStyle = fill;
		this.context.fillText(text.slice(0, Math.max(1, Math.floor(width / 5.5))), x, y, width);
	}
	drawCpus() {
		const {context, scene} = this;
		if (scene.cpus.length > this.cpus)
			this.text(`CPU 0 to ${this.cpus - 1} of ${scene.cpus.length}`, label, 13, 200);
		else
			this.text('runs', label, 13, 60);
		this.text('ready, the longest waiting first', label + this.boxWidth + 10, 13, 190);
		scene.cpus.slice(0, this.cpus).forEach(({cpu, what, lost, tid, mode, doing, waiting}, number) => {
			const box = this.cpuAt(number), {x, y, width, height} = box;
			this.text(`CPU ${cpu}`, x - label, y + height / 2 + 4, label - 4);
			const isInterrupted = what === 'thread' && tid === 0;
			if (what === 'unknown' || isInterrupted) {
				context.fillStyle = isInterrupted ? modeColours[mode] ?? this.hatching : this.hatching;
				context.fillRect(x, y, width, height);
			}
			context.strokeStyle = faint();
			context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
			if (what !== 'thread')
				this.plate(what === 'idle' || what === 'offline' ? what : lost ? 'unknown: events are missing' : 'unknown', x + 8, y + height / 2 + 4, width - 12);
			else if (isInterrupted)
				this.plate(`idle, ${doing}`, x + 8, y + height / 2 + 4, width - 12);
			if (waiting > this.slots)
				this.text(`+${waiting - this.slots}`, x + width + 10 + this.slots * (slotWidth + gap), y + height / 2 + 4, 30);
		});
		if (scene.unplaced_waiting)
			this.text(`ready, where is unknown: ${scene.unplaced_waiting}`, label, this.top - gap - 8, 180);
	}
	// Text that can be read on any ground.
	plate(text, x, y, width) {
		const {context} = this;
		context.fillStyle = paper();
		context.fillRect(x - 3, y - 12, Math.min(width, context.measureText(text).width) + 6, 16);
		this.text(text, x, y, width);
	}
	drawToken({tid, thread, kind, mode, doing}, {x, y, width, height}) {
		const {context} = this, number = this.places.get(tid), {found} = this.lanes;
		const fill = kind === 'running' ? modeColours[mode] ?? this.hatching : kind === 'ready' ? waitColour : faint();
		context.globalAlpha = found && !found.has(number) ? 0.3 : 1;
		context.fillStyle = paper();
		context.fillRect(x, y, width, height);
		context.fillStyle = fill;
		context.fillRect(x, y, width, height);
		context.fillStyle = number === undefined ? ink() : colour(place(number));
		context.fillRect(x, y, 5, height);
		context.strokeStyle = ink();
		context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
		const lines = kind === 'running' && height > 30 ? [`${thread.name} ${tid}`, doing] : [`${thread.name} ${tid}`];
		lines.forEach((line, i) => {
			const base = y + (lines.length === 1 ? height / 2 + 4 : 15 + 16 * i);
			if (fill === this.hatching)
				this.plate(line, x + 10, base, width - 14);
			else
				this.text(line, x + 9, base, width - 12, kind === 'sleeping' ? ink() : isLight(fill) ? '#000' : '#fff');
		});
		context.globalAlpha = 1;
	}
	arrow([x, y], [toX, toY]) {
		const {context} = this, angle = Math.atan2(toY - y, toX - x);
		context.beginPath();
		context.moveTo(x, y);
		context.lineTo(toX, toY);
		for (const side of [-0.45, 0.45]) {
			context.moveTo(toX, toY);
			context.lineTo(toX - 9 * Math.cos(angle + side), toY - 9 * Math.sin(angle + side));
		}
		context.stroke();
	}
	// From who woke a thread to it; an interrupt has no box: its name is above the arrow.
	drawArrows(now, fades) {
		const {context} = this;
		this.arrows = this.arrows.filter(({born, time}) => fades ? now - born < arrowTime : time === this.scene.time);
		context.strokeStyle = ink();
		context.lineWidth = 2;
		for (const {waker, by, wakee, born} of this.arrows) {
			const to = this.tokens.get(wakee), from = this.tokens.get(waker);
			if (!to || waker !== null && !from)
				continue;
			context.globalAlpha = fades ? 1 - (now - born) / arrowTime : 1;
			const end = this.placeOf(to, now), begin = from && this.placeOf(from, now);
			if (begin) {
				this.arrow(rim(begin, middle(end)), rim(end, middle(begin)));
			} else {
				const x = end.x + end.width - 12;
				this.arrow([x, end.y - 14], [x, end.y]);
				this.plate(by || 'unknown', x + 6, end.y - 5, 90);
			}
		}
		context.globalAlpha = context.lineWidth = 1;
	}
	// Messages move along the arrows; two arrows between the same boxes are beside each other.
	drawLayout(part) {
		const {context, scene} = this, {layout} = this.source.about;
		layout.arrows.forEach(({from, to}, i) => {
			const [a, b] = [this.boxes[from], this.boxes[to]], [dx, dy] = middle(b).map((value, axis) => value - middle(a)[axis]);
			const length = Math.hypot(dx, dy) || 1, shift = ([x, y]) => [x - dy / length * 9, y + dx / length * 9];
			const begin = shift(rim(a, middle(b))), end = shift(rim(b, middle(a))), at = share => begin.map((value, axis) => value + (end[axis] - value) * share);
			context.strokeStyle = ink();
			this.arrow(begin, end);
			context.fillStyle = '#0072b2';
			for (const on of scene.arrows[i].on_the_way) {
				const share = on + part / layout.travel_steps;
				if (share > 1)
					continue;
				context.beginPath();
				context.arc(...at(share), 4, 0, 2 * Math.PI);
				context.fill();
			}
			const [x, y] = shift(shift(at(0.5)));
			this.plate(scene.arrows[i].count, x - 6, y + 4, 40);
		});
		layout.boxes.forEach(({name}, i) => {
			const {x, y, width, height} = this.boxes[i], {who, doing, runs, waits} = scene.boxes[i];
			context.fillStyle = paper();
			context.fillRect(x, y, width, height);
			context.strokeStyle = runs ? modeColours.user : waits ? modeColours.kernel : ink();
			context.lineWidth = runs || waits ? 3 : 1;
			context.strokeRect(x, y, width, height);
			context.lineWidth = 1;
			[name, who, doing].forEach((line, row) => this.text(line, x + 8, y + 15 + 16 * row, width - 14));
		});
	}
	// What is at a place of the canvas, in words.
	under(x, y) {
		for (const {to, thread} of this.tokens.values())
			if (x >= to.x && x < to.x + to.width && y >= to.y && y < to.y + to.height)
				return `${thread.name} ${thread.tid} ${thread.doing}`;
		return '';
	}
	// The scene in words, for those who cannot see it.
	words() {
		const name = tid => this.scene.threads.find(thread => thread.tid === tid)?.name ?? '?';
		return this.scene.cpus.slice(0, this.cpus).map(({cpu, what, tid, doing, waiting}) =>
			`CPU ${cpu}: ${what !== 'thread' ? what : tid === 0 ? `idle, ${doing}` : `${name(tid)} ${tid} ${doing}`}, ${waiting} ready`).join('; ');
	}
}
