// SPDX-License-Identifier: MIT
// The whole recording, as one strip for each CPU: the shares of the modes over time. Shows where the window is, and sets it
// by dragging.
import {dark, faint, hatched, ink, modeColours, paper} from './colours.js';

const label = 56, rowHeight = 22, gap = 3;
const maxBins = 2 ** 19; // of all CPUs: what the server answers at once

export class Overview {
	constructor(canvas, source, setWindow) {
		this.canvas = canvas;
		this.source = source;
		this.setWindow = setWindow;
		this.window = {from: 0, to: source.about.ticks};
		canvas.onpointerdown = event => this.begin(event); // those of an earlier one are over
		canvas.onpointermove = event => this.drag(event);
		canvas.onpointerup = () => this.end();
	}
	async resize() {
		const {about} = this.source, scale = devicePixelRatio;
		this.width = this.canvas.clientWidth;
		this.height = Math.min(about.cpus.length, 64) * (rowHeight + gap);
		this.rowHeight = Math.max(0.5, this.height / about.cpus.length - gap);
		this.canvas.style.height = `${this.height}px`;
		this.canvas.width = this.width * scale;
		this.canvas.height = this.height * scale;
		this.bins = Math.max(1, Math.floor(Math.min(this.width - label, maxBins / about.cpus.length)));
		this.binWidth = Math.max(1, Math.floor(this.width - label)) / this.bins;
		this.shares = await this.source.modes(0, about.ticks, this.bins);
		this.drawStrips();
		this.draw();
	}
	// Once: a window that moves changes nothing of them.
	drawStrips() {
		this.strips = document.createElement('canvas');
		this.strips.width = this.canvas.width;
		this.strips.height = this.canvas.height;
		const context = this.strips.getContext('2d'), {about} = this.source, scale = devicePixelRatio;
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.fillStyle = paper();
		context.fillRect(0, 0, this.width, this.height);
		const fills = about.modes.map(mode => mode === 'unknown' ? hatched(context) : modeColours[mode]), kinds = about.modes.length;
		context.font = '11px system-ui';
		about.cpus.forEach(({cpu}, row) => {
			const top = row * (this.rowHeight + gap);
			context.fillStyle = ink();
			if (this.rowHeight >= 9 || row % Math.ceil(11 / (this.rowHeight + gap)) === 0)
				context.fillText(`CPU ${cpu}`, 0, top + this.rowHeight / 2 + 4);
			context.fillStyle = faint();
			context.fillRect(label, top + this.rowHeight, this.bins * this.binWidth, 1);
			fills.forEach((fill, mode) => {
				if (!fill)
					return;
				context.fillStyle = fill;
				for (let bin = 0; bin < this.bins; ++bin) {
					const at = (row * this.bins + bin) * kinds, share = this.shares[at + mode];
					if (share <= 0)
						continue;
					let below = 0;
					for (let i = 0; i < mode; ++i)
						below += fills[i] ? this.shares[at + i] : 0;
					context.fillRect(label + bin * this.binWidth, top + this.rowHeight * (1 - below - share), this.binWidth, this.rowHeight * share);
				}
			});
		});
	}
	draw() {
		if (!this.strips)
			return;
		const context = this.canvas.getContext('2d'), scale = devicePixelRatio;
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.drawImage(this.strips, 0, 0);
		context.setTransform(scale, 0, 0, scale, 0, 0);
		const from = this.x(this.window.from), to = Math.max(this.x(this.window.to), from + 2);
		context.fillStyle = dark() ? '#0008' : '#fffa';
		context.fillRect(label, 0, from - label, this.height);
		context.fillRect(to, 0, this.width - to, this.height);
		context.strokeStyle = ink();
		context.strokeRect(from + 0.5, 0.5, to - from - 1, this.height - 1);
	}
	x(ticks) {
		return label + ticks / this.source.about.ticks * this.bins * this.binWidth;
	}
	ticks(x) {
		return Math.min(1, Math.max(0, (x - label) / (this.bins * this.binWidth))) * this.source.about.ticks;
	}
	begin(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.from = event.offsetX;
	}
	drag(event) {
		if (this.from === undefined || Math.abs(event.offsetX - this.from) < 3)
			return;
		const ends = [this.ticks(this.from), this.ticks(event.offsetX)];
		this.setWindow(Math.min(...ends), Math.max(...ends));
	}
	end() {
		this.from = undefined;
	}
	show(window) {
		this.window = window;
		this.draw();
	}
}
