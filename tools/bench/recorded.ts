/**
 * Measures the linearizability checker on recorded histories of others: Jepsen's logs of a CAS
 * register (`*.log`) and the lines of a map (`*.txt`), below the folder that the environment
 * variable `FENCEPOST_HISTORIES` names. Without it there is nothing to measure.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkParts } from '../../src/linearizability/check-history.ts';
import { readHistory } from '../../src/linearizability/formats/formats.ts';
import { measure, type Row, type Subject, times } from './measure.ts';

const LOG = '.log';
const MAP = '.txt';

/** Time of Porcupine's newest version on a small machine, and the target, by file name. */
const AIMS: ReadonlyMap<string, { readonly reference: string; readonly target: string }> = new Map([
  ['etcd_002.log', { reference: 'Porcupine 168 ms', target: '≤ 2 ms' }],
  ['etcd_007.log', { reference: 'Porcupine 115 ms', target: '≤ 1 ms' }],
  ['etcd_057.log', { reference: 'Porcupine 55 ms', target: '≤ 1 ms' }],
  ['etcd_099.log', { reference: 'Porcupine 51 ms', target: '≤ 1 ms' }],
  ['c50-ok.txt', { reference: 'Porcupine 172 ms', target: '≤ 17 ms' }],
  ['c50-bad.txt', { reference: 'Porcupine does not finish', target: '≤ 100 ms' }],
  ['c10-ok.txt', { reference: 'Porcupine 0.66 ms', target: '≤ 1.2 ms' }],
  ['c10-bad.txt', { reference: 'Porcupine 0.39 ms', target: '≤ 0.9 ms' }],
]);

async function* rows(): AsyncIterable<Row> {
  const folder = process.env['FENCEPOST_HISTORIES'];
  if (folder === undefined) {
    const what = 'recorded: FENCEPOST_HISTORIES names none';
    yield { what, cpu: '', wall: '', ratio: '', target: '' };
    return;
  }
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const logs = files.filter((file) => file.endsWith(LOG)).map((file) => join(folder, file));
  const maps = files.filter((file) => file.endsWith(MAP)).map((file) => join(folder, file));
  const named = [...logs, ...maps].filter((file) => AIMS.has(basename(file)));
  const all = logs.map(judging);
  const took = await measure({ all: () => all.map((judge) => judge()) });
  const met = all.map((judge) => judge().configurations);
  const sum = met.reduce((total, count) => total + count, 0);
  const effort = `${sum} configurations, at most ${Math.max(0, ...met)} on one`;
  const what = `recorded: ${logs.length} Jepsen logs`;
  yield { what, ...times(took('all'), 2), ratio: effort, target: '≤ 1000 on one' };
  for (const file of named) yield await rowFor(file);
}

async function rowFor(file: string): Promise<Row> {
  const name = basename(file);
  const { reference = '', target = '' } = AIMS.get(name) ?? {};
  const judge = judging(file);
  const took = await measure({ check: judge }, 9);
  const { kinds, configurations } = judge();
  const ratio = `${kinds}, ${configurations} configurations; ${reference}`;
  return { what: `recorded: ${name}`, ...times(took('check'), 2), ratio, target };
}

/** Reads a file once; returns a function that judges every part of it. */
function judging(file: string): () => { readonly kinds: string; readonly configurations: number } {
  const model = file.endsWith(LOG) ? 'cas-register' : 'kv';
  const read = readHistory(readFileSync(file, 'utf8'), { model });
  if (read.kind === 'malformed') throw new Error(`${file}:${read.line}: ${read.what}`);
  return () => {
    const parts = checkParts(read.history, read.model, { failed: 'strict' });
    const counts = new Map<string, number>();
    let configurations = 0;
    for (const { decision } of parts) {
      counts.set(decision.kind, (counts.get(decision.kind) ?? 0) + 1);
      configurations += decision.configurations;
    }
    const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
    return { kinds, configurations };
  };
}

export const recorded: Subject = {
  name: 'recorded',
  about: 'the checker on histories that FENCEPOST_HISTORIES names',
  isLong: false,
  rows,
};
