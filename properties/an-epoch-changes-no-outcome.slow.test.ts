/**
 * Laws of the epoch: it cannot make a lock right or wrong. With another epoch the same events
 * happen at the same times; only stated times of day differ. All processes of one world share the
 * time of day.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { explain } from '../src/check/explain.ts';
import { inWords } from '../src/check/in-words.fixture.ts';
import type { TraceEvent } from '../src/core/history/events.ts';
import type { Trace } from '../src/core/history/trace.ts';
import type { Json } from '../src/core/kernel/json.ts';
import { ASYNC_EPOCH_US } from '../src/core/plan/duration.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import type { Port } from '../src/core/world/port.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import { examine } from '../src/harness.ts';
import { runFilled } from '../src/host/async/run-filled.ts';
import { environmentOf } from '../src/report/environment.ts';
import { eventText } from '../src/report/event-phrases.ts';
import { run } from '../src/run.ts';
import { planOf } from '../src/systems/plan.fixture.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';

const folder = new URL('../fixtures/plans/', import.meta.url);

function planIn(file: string): Plan {
  const read = readPlan({ file, text: readFileSync(new URL(file, folder), 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.plan;
}

const files = readdirSync(folder);
const epochs = fc.constantFrom(0, 1_000_000, ASYNC_EPOCH_US, ASYNC_EPOCH_US + 123_456_000_000);

/** Returns true for systems whose tokens or versions are times of day. */
function countsByTheDay({ system }: Plan): boolean {
  return system.options['absent'] === 'clock' || system.store.startsWith('timestamped');
}

/** Returns an event without its body. */
function silent(event: TraceEvent): object {
  return 'body' in event ? { ...event, body: null } : event;
}

beforeAll(async () => {
  for (const file of files) await prepare([planIn(file).system]);
});

test('the same events happen at the same times, whatever the epoch', () => {
  const plans = files.map(planIn).filter((plan) => !countsByTheDay(plan));
  expect(plans.length).toBeGreaterThan(100);
  for (const plan of plans) {
    const expected = run(plan).events.map(silent);
    fc.assert(
      fc.property(epochs, (epochUs) => {
        expect(run({ ...plan, epochUs }).events.map(silent), JSON.stringify(plan.system)).toEqual(
          expected,
        );
      }),
      { numRuns: 4 },
    );
  }
});

/** Returns the words for a run and its breaches. */
function wordsOf(plan: Plan): readonly string[] {
  const { trace, verdicts } = examine(plan, ['no-lost-update', 'linearizable']);
  const stories = verdicts.map((verdict) =>
    verdict.kind === 'invalid' ? inWords(explain(trace, verdict)) : verdict.kind,
  );
  const around = environmentOf(trace);
  return [...trace.events.map((event) => eventText(event, around)), ...stories];
}

test('stories about timestamps have the same words, whatever the epoch', () => {
  const plans = files.map(planIn).filter(({ system }) => system.store.startsWith('timestamped'));
  expect(plans.length).toBeGreaterThan(3);
  for (const plan of plans) {
    const expected = wordsOf({ ...plan, epochUs: 0 });
    expect(expected.join()).toMatch(/(first )?change of \d+ ms/);
    fc.assert(
      fc.property(fc.oneof(epochs, fc.constant(31_536_000_000_000)), (epochUs) => {
        expect(wordsOf({ ...plan, epochUs })).toEqual(expected);
      }),
      { numRuns: 6 },
    );
  }
});

class Sundial implements Server<Json, Json> {
  handle(_request: Json, turn: Turn): Json {
    return turn.wallUs;
  }

  restart(): void {}

  snapshot(): () => void {
    return () => {};
  }

  evict(): boolean {
    return false;
  }
}

/** Returns the start of the run as time of day, as a server and two clients in real code see it. */
async function timesOfDay(plan: Plan): Promise<readonly number[]> {
  const observed: number[] = [];
  const trace = await runFilled(plan, (_plan, world) => {
    const sundial: Port<Json, Json> = {
      host: world.world.addServer({ name: 'sundial', role: 'store' }, new Sundial()),
      describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }),
      describeReply: () => ({ kind: 'released' }),
    };
    for (const name of ['alice', 'bob']) {
      world.addClient(name, async (client) => {
        observed.push(Date.now() * 1000, performance.timeOrigin * 1000);
        const heard = await client.call(sundial, { label: 'ask', request: null });
        const wallUs = heard.kind === 'answered' ? Number(heard.reply) : 0;
        observed.push(wallUs - 1000, Date.now() * 1000 - 2000);
      });
    }
    return undefined;
  });
  expect(trace.ending).toEqual({ kind: 'complete' });
  expect(observed).toHaveLength(8);
  return observed;
}

test('a server and the real code of its clients share one epoch', async () => {
  const plan = planOf({ clients: [] });
  const distinctTimes = async (epochUs: number): Promise<unknown> => [
    ...new Set(await timesOfDay({ ...plan, epochUs })),
  ];
  await fc.assert(
    fc.asyncProperty(epochs, async (epochUs) => {
      expect(await distinctTimes(epochUs)).toEqual([epochUs]);
    }),
  );
  expect(new Set(await timesOfDay(plan))).toEqual(new Set([ASYNC_EPOCH_US]));
});

test('a system of generators begins at 0 if its plan has no epoch', () => {
  const plan = planIn('caller-clock-published-mutual-exclusion.yaml');
  const traceOf = (one: Plan): Trace => run(one);
  expect(traceOf(plan)).toEqual(traceOf({ ...plan, epochUs: 0 }));
});
