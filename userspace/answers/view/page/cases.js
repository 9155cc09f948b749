// SPDX-License-Identifier: MIT
// How long something took each time in the window, as a histogram, and the longest times. A bar leads to the longest of its
// own; each of them to its place in the lanes, and to its thread's story.
import {runColour} from './colours.js';
import {count, duration, moment} from './text.js';

const element = id => document.getElementById(id);
const [width, height, base] = [560, 120, 100];

const svg = (tag, attributes, text) => {
	const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [name, value] of Object.entries(attributes))
		made.setAttribute(name, value);
	if (text !== undefined)
		made.textContent = text;
	return made;
};

export class Cases {
	// `go(found)` shows one of the longest in the lanes.
	constructor(source, go) {
		this.source = source;
		this.go = go;
		this.number = 0;
		element('cases-close').addEventListener('click', () => this.close());
		element('cases-all').addEventListener('click', () => this.show({...this.wanted, min: undefined, max: undefined}, this.title, this.window));
	}
	close() {
		++this.number;
		this.wanted = undefined;
		element('cases').hidden = true;
	}
	// `wanted`: as in source.js.
	async show(wanted, title, window) {
		const number = ++this.number;
		Object.assign(this, {wanted, title, window});
		element('cases').hidden = false;
		element('cases-title').textContent = title;
		element('cases-state').textContent = 'reading...';
		let found = null, why = 'a written page does not have them: run monitor view DIR';
		try {
			found = await this.source.cases(Math.floor(window.from), Math.ceil(window.to), wanted);
		} catch (error) {
			why = error.message;
		}
		if (number !== this.number)
			return;
		const {nsPerTick} = this.source;
		element('cases-state').textContent = !found ? why : `${found.count === 1 ? 'once' : `${count(found.count)} times`}, ${duration(found.total * nsPerTick)} in all`
			+ (wanted.min === undefined ? '' : ` (those of ${duration(wanted.min * nsPerTick)} to ${duration(wanted.max * nsPerTick)})`);
		element('cases-all').hidden = wanted.min === undefined;
		this.bars(found?.bars ?? []);
		this.longest(found?.longest ?? []);
	}
	bars(bars) {
		const {nsPerTick} = this.source, largest = Math.max(1, ...bars.map(bar => bar[2]));
		const low = Math.log2(Math.max(1, bars[0]?.[0] ?? 1)), high = Math.log2(Math.max(2, bars.at(-1)?.[1] ?? 2));
		const x = ticks => 10 + (Math.log2(Math.max(1, ticks)) - low) / Math.max(high - low, 0.01) * (width - 20);
		const made = bars.map(([from, to, times]) => {
			// As high as the root of how often: a single one among a million is the one that is looked for.
			const tall = Math.max(3, Math.sqrt(times / largest) * (base - 8)), name = `${duration(from * nsPerTick)} to ${duration(to * nsPerTick)}: ${count(times)} times`;
			const bar = svg('rect', {x: x(from), y: base - tall, width: Math.max(1, x(to) - x(from) - 1), height: tall, fill: runColour, tabindex: 0, role: 'button', 'aria-label': name});
			bar.append(svg('title', {}, name));
			const act = () => this.show({...this.wanted, min: from, max: to}, this.title, this.window);
			bar.addEventListener('click', act);
			bar.addEventListener('keydown', event => event.key === 'Enter' && act());
			return bar;
		});
		const marks = [0, 0.25, 0.5, 0.75, 1].map(part => {
			const ticks = 2 ** (low + part * (high - low));
			return svg('text', {x: x(ticks), y: height - 4, 'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}, duration(ticks * nsPerTick));
		});
		element('cases-bars').replaceChildren(svg('line', {x1: 10, y1: base, x2: width - 10, y2: base, stroke: '#8888'}), ...made, ...(bars.length ? marks : []));
	}
	longest(longest) {
		const line = cells => {
			const row = document.createElement('tr');
			for (const [content, tag, isText] of cells) {
				const cell = document.createElement(tag);
				cell.append(content);
				cell.className = isText ? 'text' : '';
				row.append(cell);
			}
			return row;
		};
		const rows = longest.map(found => {
			const button = document.createElement('button');
			button.textContent = moment(this.source.ns(found.from), 1);
			button.addEventListener('click', () => this.go(found));
			return line([[duration((found.to - found.from) * this.source.nsPerTick), 'td', false], [button, 'td', false],
				[`${found.name || '?'} ${found.tid}`, 'td', true], [found.call ?? '', 'td', true]]);
		});
		element('cases-table').replaceChildren(...(rows.length ? [line([['for', 'th', false], ['at', 'th', false], ['thread', 'th', true], ['call', 'th', true]])] : []), ...rows);
	}
}
