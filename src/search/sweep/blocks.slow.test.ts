/**
 * Exactly the seeds fail whose code changes a shared object, each with the path and the line of the
 * change; all others keep their results, wherever chunks begin.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { virtualizeGlobals } from '../../host/async/globals.ts';
import { loadScenarioFile, type ScenarioFileRead } from '../../host/modules/load-files.ts';
import type { SweepCounts } from './counts.ts';
import { sweep } from './sweep.ts';

const SEEDS = 36;
const folder = mkdtempSync(join(tmpdir(), 'fencepost-blocks-'));

/** On about one seed in eight, a client runs the statement in its first section. */
const lockOf = (statement: string): string => `import { createRequire } from 'node:module';
import stream, { Readable } from 'node:stream';
import { defineSystem } from 'fencepost';
const require = createRequire(import.meta.url);
let sections = 0;
const buildAsync = (world) => {
  const host = world.addServer({ name: 'lock', role: 'lock' }, { handle: () => ({}) });
  const port = { host, describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }), describeReply: () => ({ kind: 'accepted' }) };
  return (client) => async (section) => {
    const isChosen = Math.random() < 1 / 28;
    sections += 1;
    if (isChosen && sections === 1) {
      ${statement}
    }
    await section.call(port, { label: 'ask', request: {} });
    const guard = section.guard();
    await guard.work();
    guard.leave();
  };
};
export default defineSystem({ locks: { own: { about: 'a lock', operations: ['ask'], buildAsync } } });
`;

const SCENARIO = `name: blocks
use: ./lock.mjs
systems: { own: { lock: own, store: unfenced } }
clients: { count: 2, ttl: 20ms, sections: 1, think: 0ms..10ms }
workload: { kind: read-modify-write }
`;

type Loaded = Extract<ScenarioFileRead, { readonly kind: 'scenario' }>;

let files = 0;

async function loaded(statement: string): Promise<Loaded> {
  files += 1;
  const name = `lock-${files}.mjs`;
  writeFileSync(join(folder, name), lockOf(statement));
  const file = join(folder, `blocks-${files}.yaml`);
  writeFileSync(file, SCENARIO.replace('lock.mjs', name));
  const read = await loadScenarioFile(file);
  if (read.kind === 'problems') throw new Error(read.problems.map(({ what }) => what).join('\n'));
  return read;
}

async function countsOf(read: Loaded, chunkSeeds = SEEDS): Promise<SweepCounts> {
  const options = { from: 0, to: SEEDS - 1, pool: null, chunkSeeds, catalogue: read.catalogue };
  const { countsBySystem } = await sweep(read.scenario, options);
  return countsBySystem.get('own') ?? expect.fail('no tally');
}

/** Reference results for these seeds: with a refused call, and with a changed global. */
let thrown: SweepCounts;
let ofGlobal: SweepCounts;
const seedsOf = ({ failures }: SweepCounts): readonly number[] => failures.map(({ seed }) => seed);
const withoutTexts = (counts: SweepCounts): object => ({
  ...counts,
  sections: null,
  failures: seedsOf(counts),
});

beforeAll(async () => {
  // Replaced once for all tests, as in a worker: replacing globals again takes time.
  virtualizeGlobals();
  thrown = await countsOf(await loaded('process.abort();'));
  expect(thrown.failed).toBeGreaterThan(2);
  expect(thrown.failed).toBeLessThan(10);
  ofGlobal = await countsOf(await loaded('globalThis.tok = {};'));
});

const CHANGES: [name: string, statement: string, isPlaced?: boolean][] = [
  ['globalThis.tok', 'globalThis.tok = (globalThis.tok ?? 0) + 1;'],
  ['Array.prototype.at', 'Array.prototype.at = function () {};'],
  ['Map.prototype.tok', 'Map.prototype.tok = 1;'],
  ['Math.max.tok', 'Math.max.tok = 1;'],
  ['Object.keys.tok', 'Object.keys.tok = 1;'],
  ['setTimeout.tok', 'setTimeout.tok = 1;'],
  ['%TypedArray%.tok', 'Object.getPrototypeOf(Uint8Array).tok = 1;'],
  ['%TypedArray%.prototype.tok', 'Object.getPrototypeOf(Uint8Array.prototype).tok = 1;'],
  ['%AsyncFunction%.tok', '(async () => {}).constructor.tok = 1;'],
  ['%GeneratorFunction%.prototype.tok', 'Object.getPrototypeOf(function* () {}).tok = 1;'],
  [
    '%Iterator%.prototype.tok',
    'Object.getPrototypeOf(Object.getPrototypeOf([].values())).tok = 1;',
  ],
  ['%MapIteratorPrototype%.tok', 'Object.getPrototypeOf(new Map().keys()).tok = 1;'],
  [
    '%SegmentIteratorPrototype%.tok',
    "Object.getPrototypeOf(new Intl.Segmenter().segment('')[Symbol.iterator]()).tok = 1;",
  ],
  ['DOMException.prototype.tok', 'DOMException.prototype.tok = 1;'],
  ['console.log.tok', 'console.log.tok = 1;'],
  ['process.hrtime.tok', 'process.hrtime.tok = 1;'],
  ['process.features.tok', 'process.features.tok = 1;'],
  ['section.tok', 'Object.getPrototypeOf(section).tok = 1;'],
  ['a timer.tok', 'Object.getPrototypeOf(setTimeout(() => {}, 0)).tok = 1;'],
  ['stream.Readable.tok', 'Readable.tok = 1;'],
  ['stream.Readable.prototype.tok', 'Readable.prototype.tok = 1;'],
  ['stream.tok', 'stream.tok = 1;'],
  ['fs.readFileSync.tok', "require('node:fs').readFileSync.tok = 1;"],
  ['crypto.Hash.prototype.update', "require('node:crypto').Hash.prototype.update = () => {};"],
  ['http.METHODS.0', "require('node:http').METHODS[0] = 'GET';", false],
  ['events.prototype.tok', "require('node:events').prototype.tok = 1;"],
  ['Promise.prototype.finally', 'delete Promise.prototype.finally;', false],
  ['URL.prototype.tok', 'Object.assign(URL.prototype, { tok: 1 });'],
  ['the prototype of Map', 'Object.setPrototypeOf(Map, null);', false],
  [
    'the prototype of net.Socket.prototype',
    "Object.setPrototypeOf(require('node:net').Socket.prototype, null);",
    false,
  ],
];

test.each(CHANGES)('exactly the seeds that change %s fail', async (name, statement, isPlaced) => {
  const found = await countsOf(await loaded(statement));
  const text = name.replace(/[.*+?^$()[\]\\]/g, '\\$&');
  const place = isPlaced === false ? '' : '; at \\S+\\.mjs:13:\\d+';
  const error = new RegExp(
    `^\\w+: it changes ${text}, which all simulated processes share${place}$`,
  );
  for (const failure of found.failures) expect(failure.error).toMatch(error);
  expect(seedsOf(found)).toEqual(seedsOf(thrown));
  expect(withoutTexts(found)).toEqual(withoutTexts(ofGlobal));
});

test('the same seeds fail for every chunk size, and one seed at a time', async () => {
  const statement = 'Readable.tok = (Readable.tok ?? 0) + 1;';
  const expected = await countsOf(await loaded(statement), SEEDS);
  expect(seedsOf(expected)).toEqual(seedsOf(thrown));
  const inSevens = await countsOf(await loaded(statement), 7);
  expect(withoutTexts(inSevens)).toEqual(withoutTexts(expected));
  // A test ends at its first failed seed; earlier seeds already have their results.
  const [first] = seedsOf(expected);
  const { failures } = await countsOf(await loaded(statement), 1);
  expect(failures[0]).toMatchObject({
    seed: first,
    error: expect.stringContaining('Readable.tok'),
  });
});

test.each([
  ['Object.freeze on Array', 'Object.freeze(Array);'],
  ['Object.seal on util', "Object.seal(require('node:util'));"],
  ['Reflect.preventExtensions on Math', 'Reflect.preventExtensions(Math);'],
])('a change that cannot be undone is refused at its call: %s', async (name, statement) => {
  const found = await countsOf(await loaded(statement));
  for (const { error } of found.failures) {
    expect(error).toContain(`it calls ${name}, which all simulated processes share; at ${folder}`);
  }
  expect(seedsOf(found)).toEqual(seedsOf(thrown));
  expect([Array, Math].map(Object.isExtensible)).toEqual([true, true]);
});
