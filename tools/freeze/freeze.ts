/**
 * Records the current behavior in `fixtures/frozen`, on as many threads as there are cores, or
 * compares it with the records and prints each difference: `npm run freeze -- [--compare
 * [--sample]] [--only <name>]`. Exits with 1 if there is a difference, and with 2 on bad usage, a
 * missing or damaged record, or a run that failed.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { differencesOf, RECORDS, readRecord, writeRecord } from './frozen.ts';
import type { Depth, Sections } from './seeds.ts';
import { subjects } from './subjects.ts';

/** Subjects of a sample in full; of other scenarios without modules it has the first block. */
const SAMPLE: readonly string[] = ['scenarios/zombie-writer', 'outputs/six-steps'];

/** Subjects to run, and their depth. */
type Jobs = ReadonlyMap<string, Depth>;
type Done = { readonly sections: Sections } | { readonly error: string };

const OPTIONS = {
  compare: { type: 'boolean', default: false },
  sample: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true },
} as const;

async function freeze(args: readonly string[]): Promise<number> {
  const { compare, sample, only = [] } = parseArgs({ args: [...args], options: OPTIONS }).values;
  if (sample && !compare) throw new Error('--sample compares a part: add --compare');
  const jobs = jobsOf(only, sample);
  const frozen = new Map(compare ? [...jobs.keys()].map((name) => [name, readRecord(name)]) : []);
  const found = await recordAll(jobs);
  if (!compare) {
    if (only.length === 0) rmSync(RECORDS, { recursive: true, force: true });
    for (const [name, sections] of found) writeRecord(name, sections);
    process.stdout.write(`recorded ${found.size} subjects in fixtures/frozen\n`);
    return 0;
  }
  const differences = [...found].flatMap(([name, sections]) => {
    return differencesOf(name, frozen.get(name) ?? new Map(), sections, jobs.get(name));
  });
  const lines = [...differences, `subjects: ${found.size}; differences: ${differences.length}`];
  process.stdout.write(`${lines.join('\n')}\n`);
  return differences.length === 0 ? 0 : 1;
}

/** Returns the subjects to record or compare; throws for an unknown name. */
function jobsOf(only: readonly string[], isSample: boolean): Jobs {
  const names = subjects().map(({ name }) => name);
  const means = (wanted: string, name: string): boolean => `/${name}/`.includes(`/${wanted}/`);
  const unknown = only.find((wanted) => !names.some((name) => means(wanted, name)));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: unknown name`);
  const wanted = names
    .filter((name) => only.length === 0 || only.some((part) => means(part, name)))
    .filter((name) => !isSample || SAMPLE.includes(name) || /^(scenarios|own-locks)\//.test(name));
  return new Map(
    wanted.map((name) => [name, isSample && !SAMPLE.includes(name) ? 'first' : 'full']),
  );
}

async function recordAll(jobs: Jobs): Promise<ReadonlyMap<string, Sections>> {
  const left = [...jobs];
  const found = new Map<string, Sections>();
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL(import.meta.url));
    try {
      for (let job = left.shift(); job !== undefined; job = left.shift()) {
        worker.postMessage(job);
        const [done]: Done[] = await once(worker, 'message');
        if (done === undefined || 'error' in done) throw new Error(`${job[0]}: ${done?.error}`);
        found.set(job[0], done.sections);
        if (process.stderr.isTTY) process.stderr.write(`\r${found.size} of ${jobs.size} `);
      }
    } finally {
      left.length = 0;
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return found;
}

if (isMainThread) {
  try {
    process.exitCode = await freeze(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`freeze: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 2;
  }
} else {
  parentPort?.on('message', async ([name, depth]: [string, Depth]) => {
    const subject = subjects().find((candidate) => candidate.name === name);
    const done: Done = await Promise.resolve(subject?.record(depth)).then(
      (sections = new Map()) => ({ sections }),
      (error) => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    parentPort?.postMessage(done);
  });
}
