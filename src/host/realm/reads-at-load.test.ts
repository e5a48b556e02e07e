/** Disk reads of a package on load, and the refusal of all other access. */
import fs, { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { expand } from '../../scenario/expand.ts';
import { runAsync } from '../async/run-async.ts';
import { loadScenarioFile } from '../modules/load-files.ts';
import { makeOutsideProcess } from './load-apart.ts';

const LOCK = `import { defineSystem } from 'fencepost';
import { told } from 'pack';
const buildAsync = () => (client) => async (section) => {
  client.log('told', told);
  const guard = section.guard();
  await guard.work();
  guard.leave();
};
export default defineSystem({ locks: { reads: { about: 'reads', operations: [], buildAsync } } });
`;

const SCENARIO = `name: reads
use: ./lock.mjs
systems: { reads: { lock: reads, store: unfenced } }
clients: { count: 1, ttl: 20ms, sections: 1 }
workload: { kind: read-modify-write }
`;

/** Runs a plan with a package of this text. */
async function runWith(text: string, name = 'index.js', lock = LOCK): Promise<Trace> {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-reads-'));
  const pack = join(folder, 'node_modules/pack');
  mkdirSync(pack, { recursive: true });
  writeFileSync(join(pack, name), text);
  writeFileSync(join(pack, 'package.json'), `{ "name": "pack", "exports": "./${name}" }`);
  writeFileSync(join(folder, 'lock.mjs'), lock);
  writeFileSync(join(folder, 'reads.yaml'), SCENARIO);
  const read = await loadScenarioFile(join(folder, 'reads.yaml'));
  if (read.kind === 'problems') throw new Error(read.problems.map(({ what }) => what).join('\n'));
  return await runAsync(expand(read.scenario, 'reads', 0), read.catalogue);
}

test.each([
  'fs.closeSync(file)',
  // As detect-libc does.
  'fs.close(file, () => {})',
])('a package may read a file piece by piece on load, and close it by %s', async (close) => {
  const trace = await runWith(`const fs = require('fs');
const file = fs.openSync(__filename, 'r');
const bytes = Buffer.alloc(8);
fs.readSync(file, bytes, 0, 8, 0);
exports.told = bytes.toString() + (fs.fstatSync(file).size > 100);
${close};
`);
  expect(trace.ending).toEqual({ kind: 'complete' });
  const logs = trace.events.filter((event) => event.kind === 'log' && event.topic === 'told');
  expect(logs).toMatchObject([{ text: 'const fstrue' }, { text: 'const fstrue' }]);
});

test.each(['closeSync(2)', 'close(1, () => {})'])(
  'a package cannot close the real output: fs.%s',
  async (code) => {
    const loading = runWith(`const fs = require('fs');\nfs.${code};\nexports.told = '';\n`);
    await expect(loading).rejects.toThrow(/leaves the simulated world: fs\.close/);
  },
);

test.each([`fs.openSync(__filename + '.new', 'w')`, `fs.openSync(__filename, 'r+')`])(
  'a package may only read, and a refusal names its place: %s',
  async (code) => {
    const loading = runWith(`const fs = require('fs');\n${code};\nexports.told = '';\n`);
    const place = String.raw`\S*node_modules/pack/index\.js:2:4`;
    await expect(loading).rejects.toThrow(
      new RegExp(`leaves the simulated world: fs\\.openSync at ${place};`),
    );
  },
);

test('each process reads the files of its modules, even after an await', async () => {
  const reading = `import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
const first = await readFile(import.meta.filename, 'utf8');
const second = await readFile(import.meta.filename);
const told = first.slice(0, 8) + readFileSync(import.meta.filename).equals(second);
`;
  const lock = LOCK.replace("import { told } from 'pack';\n", reading);
  const trace = await runWith('', 'index.js', lock);
  expect(trace.ending).toEqual({ kind: 'complete' });
  const log = trace.events.find((event) => event.kind === 'log' && event.topic === 'told');
  expect(log).toMatchObject({ text: 'import {true' });
});

test('code that builds a lock cannot write, even while no globals are virtual', async () => {
  const to = join(mkdtempSync(join(tmpdir(), 'fencepost-built-')), 'written');
  // The globals of earlier runs are restored in a later turn.
  await new Promise((go) => setTimeout(go, 20));
  expect(() => makeOutsideProcess(() => fs.writeFileSync(to, ''))).toThrow(
    /leaves the simulated world: fs\.writeFileSync at /,
  );
  expect(fs.existsSync(to)).toBe(false);
  // Afterwards, it writes as usual.
  fs.writeFileSync(to, '');
});
