// SPDX-License-Identifier: MIT
// Perfetto's own trace processor in Node: trace_processor.mjs DIRECTORY TRACE SQL... prints the rows of each query as one
// line of JSON. DIRECTORY has the wasm module and its glue, which is made for a web worker: the globals below are what it
// asks of one. Called by perfetto.py.
import fs from 'node:fs';
import path from 'node:path';
import url from 'node:url';
import vm from 'node:vm';
import {MessageChannel} from 'node:worker_threads';

const [directory, trace, ...queries] = process.argv.slice(2);
const file = name => path.resolve(directory, name);
const wasm = fs.readFileSync(file('trace_processor.wasm'));
const log = console.log;
console.log = console.error; // standard output has the rows
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = {href: 'http://localhost/'};
globalThis.fetch = async () => new Response(wasm, {headers: {'Content-Type': 'application/wasm'}});
globalThis.XMLHttpRequest = class { // it reads synchronously
	open() {}
	send() {}
	get response() { return wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length); }
};
const {EngineBase} = await import(url.pathToFileURL(file('engine.mjs')));
vm.runInThisContext(fs.readFileSync(file('engine_bundle.node.js'), 'utf8'), {filename: 'engine_bundle.js'});
const {port1, port2} = new MessageChannel();
globalThis.onmessage({data: port1});

class Engine extends EngineBase {
	id = 'node';
	mode = 'WASM';
	constructor() {
		super();
		port2.on('message', data => this.onRpcResponseBytes(data));
	}
	rpcSendRequestBytes(data) { port2.postMessage(data); }
}

const engine = new Engine();
const data = fs.readFileSync(trace);
for (let at = 0; at < data.length; at += 1 << 20)
	await engine.parse(new Uint8Array(data.subarray(at, at + (1 << 20))));
await engine.notifyEof();
for (const sql of queries) {
	const result = await engine.tryQuery(sql);
	if (!result.ok)
		throw new Error(`${sql}: ${result.error}`);
	const columns = result.value.columns(), rows = [];
	for (const each = result.value.iter({}); each.valid(); each.next())
		rows.push(Object.fromEntries(columns.map(column => {
			const value = each.get(column);
			return [column, typeof value === 'bigint' ? Number(value) : value];
		})));
	log(JSON.stringify(rows));
}
process.exit(0);
