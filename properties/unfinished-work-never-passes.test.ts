/**
 * Law: a section that never ends breaks `progress`, wherever it is and whatever it waits for, and
 * the breach names its place in the user's code; only a crash of its own process excuses it. The
 * same program without that mistake ends. No other claim holds on such a run, but a broken claim
 * stays broken. Each section that began has one end, whatever faults are injected into any lock.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import { explain } from '../src/check/explain.ts';
import { runningAtOnce } from '../src/core/plan/client-text.ts';
import type { Fault } from '../src/core/plan/fault.ts';
import type { Limits, SectionPlan } from '../src/core/plan/plan.ts';
import type { Port } from '../src/core/world/port.ts';
import { LATER } from '../src/core/world/server.ts';
import { defineSystem } from '../src/define-system.ts';
import type { SeedResult } from '../src/examine.ts';
import { examineAsync } from '../src/host/async/run-async.ts';
import { run } from '../src/run.ts';
import { failedSections, SectionCounter } from '../src/search/sweep/sections.ts';
import { clientOf, MS, planOf, writeOf } from '../src/systems/plan.fixture.ts';
import type { BuildAsync } from '../src/systems/protocol.ts';
import { runnablePlans } from './plans.ts';
import { runs } from './runs.ts';

type Ask = 'answer' | 'never' | 'set' | 'isSet';

/** Calls that may wait forever, unless `isRight`. */
interface Situation {
  readonly ask: (ask: Ask, timeoutMs?: number) => Promise<number | null>;
  readonly isRight: boolean;
}

/** A mutex; it loses wake-ups if `wakes` is false. */
class Mutex {
  private isHeld = false;
  private readonly waiters: (() => void)[] = [];
  private readonly wakes: boolean;

  constructor(wakes: boolean) {
    this.wakes = wakes;
  }

  async take(): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.waiters.push(resolve));
    this.isHeld = true;
  }

  give(): void {
    this.isHeld = false;
    if (this.wakes) this.waiters.shift()?.();
  }
}

/** Ways to wait forever. */
const WAITS: Readonly<Record<string, (situation: Situation) => Promise<unknown>>> = {
  'a promise that is never resolved': ({ isRight }) => (isRight ? wait(3) : new Promise(() => {})),
  'a mutex with a lost wake-up': async ({ isRight }) => {
    const mutex = new Mutex(isRight);
    await mutex.take();
    setTimeout(() => mutex.give(), 2);
    await mutex.take();
  },
  'a loop that tries for ever': async ({ isRight }) => {
    for (let tries = 0; tries < 3 || !isRight; tries += 1) await wait(2);
  },
  'a call that is never answered': ({ ask, isRight }) => ask('never', isRight ? 5 : undefined),
  'a promise that is handled by `then`': ({ ask, isRight }) =>
    ask('answer').then(() => (isRight ? 1 : new Promise(() => {}))),
  'what no other process ever sends': async ({ ask, isRight }) => {
    if (isRight) await ask('set');
    while ((await ask('isSet')) === 0) await wait(2);
  },
};

/** The place of a mistake in a program. */
interface Mistake {
  readonly client: string;
  readonly section: number;
  readonly way: string;
  readonly isRight: boolean;
  /** True within the guard, false before it. */
  readonly isInside: boolean;
  /** Number of sections that its process runs at once. */
  readonly concurrency: number;
}

const buildAsync =
  (mistake: Mistake): BuildAsync =>
  (world) => {
    let flag = 0;
    const handle = (ask: Ask): number | typeof LATER => {
      if (ask === 'set') flag = 1;
      return ask === 'never' ? LATER : flag;
    };
    const port: Port<Ask, number> = {
      host: world.addServer({ name: 'lock', role: 'lock' }, { handle }),
      describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }),
      describeReply: (value) => ({ kind: 'value', value }),
    };
    return ({ name }) =>
      async (section) => {
        const isHere = name === mistake.client && section.id === mistake.section;
        const way = WAITS[mistake.way] ?? (() => Promise.resolve());
        const ask: Situation['ask'] = async (request, timeoutMs) => {
          const options = timeoutMs === undefined ? {} : { timeoutMs };
          const answer = await section.call(port, { label: 'ask', request }, options);
          return answer.kind === 'answered' ? answer.reply : null;
        };
        const situation = { ask, isRight: mistake.isRight };
        if (isHere && !mistake.isInside) await way(situation);
        const guard = section.guard();
        await guard.work();
        if (isHere && mistake.isInside) await way(situation);
        guard.leave();
      };
  };

const NAMES = ['alice', 'bob', 'carol'];
const SECTIONS = 3;

interface Setting {
  readonly faults?: readonly Fault[];
  readonly limits?: Partial<Limits>;
  readonly claims?: readonly string[];
}

async function examined(
  mistake: Mistake,
  { faults = [], limits = {}, claims = ['progress'] }: Setting = {},
): Promise<SeedResult> {
  const about = 'lets everybody in, and its code may never end';
  const userLock = { about, buildAsync: buildAsync(mistake) };
  const catalogue = extend(builtIn, defineSystem({ locks: { own: userLock } }));
  const clients = NAMES.map((name) => {
    const sections = Array.from({ length: SECTIONS }, (_, at): SectionPlan => {
      return { id: at + 1, thinkUs: MS, lock: 'db', work: [writeOf(7)] };
    });
    return { ...clientOf(name, []), ...runningAtOnce(mistake.concurrency), sections };
  });
  const plan = planOf({ clients, lock: 'own', store: 'unfenced', faults, probe: true });
  const limited = { ...plan, limits: { ...plan.limits, ...limits } };
  return await examineAsync(limited, claims, catalogue);
}

const mistakes = fc.record({
  client: fc.constantFrom(...NAMES),
  section: fc.integer({ min: 1, max: SECTIONS }),
  way: fc.constantFrom(...Object.keys(WAITS)),
  isRight: fc.constant(false),
  isInside: fc.boolean(),
  concurrency: fc.constantFrom(1, SECTIONS),
});

/** A fault in another process, or in its own before it waits. */
function faultOf(kind: 'none' | 'pause' | 'crash' | 'partition', process: string): Fault[] {
  const when = { kind: 'at', atUs: 2 * MS } as const;
  if (kind === 'pause') return [{ kind, process, when, forUs: 900 * MS, clocks: 'run' }];
  if (kind === 'crash') return [{ kind, process, when, restartAfterUs: null }];
  const between = { from: [process], to: ['lock'], direction: 'both' } as const;
  return kind === 'none' ? [] : [{ kind, ...between, when, forUs: 900 * MS }];
}

const HERE = 'unfinished-work-never-passes.test.ts';
const lines = readFileSync(new URL(HERE, import.meta.url), 'utf8').split('\n');

/** Pattern of the source line on which each of them waits. */
const PLACES: Readonly<Record<string, RegExp>> = {
  'a promise that is never resolved': /await way\(situation\)/,
  'a mutex with a lost wake-up': /if \(this.isHeld\) await new Promise/,
  'a loop that tries for ever': /await wait\(2\)/,
  'a call that is never answered': /await section.call/,
  'a promise that is handled by `then`': /await way\(situation\)/,
  'what no other process ever sends': /await wait\(2\)|await section.call/,
};

test('a section that never ends breaks `progress`; the breach names it and its place', async () => {
  const others = fc.constantFrom('none', 'pause', 'crash', 'partition');
  await fc.assert(
    fc.asyncProperty(mistakes, others, async (mistake, kind) => {
      const { client, section } = mistake;
      const other = NAMES.find((name) => name !== client) ?? '';
      const { trace, verdicts } = await examined(mistake, { faults: faultOf(kind, other) });
      const [verdict] = verdicts;
      if (verdict?.kind !== 'invalid') expect.fail(JSON.stringify(verdict));
      expect(verdict.rule).toBe('never-ended');
      const [, what, line] =
        /^(.*); waiting since \S+ m?s at \S+:(\d+)$/.exec(explain(trace, verdict).headline) ?? [];
      expect(what).toBe(`${client}'s section ${section} never ended`);
      expect(lines[Number(line) - 1]).toMatch(PLACES[mistake.way] ?? '');
    }),
    { numRuns: runs(120) },
  );
});

test('the same program without the mistake ends and holds `progress`', async () => {
  await fc.assert(
    fc.asyncProperty(mistakes, async (mistake) => {
      const { trace, verdicts } = await examined({ ...mistake, isRight: true });
      expect(verdicts).toMatchObject([{ kind: 'valid' }]);
      const ends = trace.sections?.map(({ end }) => end.kind);
      expect(ends).toEqual(Array(NAMES.length * SECTIONS + 1).fill('returned'));
    }),
    { numRuns: runs(60) },
  );
});

test('only a section whose own process crashed is excused', async () => {
  await fc.assert(
    fc.asyncProperty(mistakes, async (mistake) => {
      const process = mistake.client;
      const when = { kind: 'at', atUs: 400 * MS } as const;
      const crash: Fault = { kind: 'crash', process, when, restartAfterUs: null };
      const { trace, verdicts } = await examined(mistake, { faults: [crash] });
      expect(verdicts).toMatchObject([{ kind: 'valid' }]);
      expect(trace.sections?.filter(({ end }) => end.kind === 'crashed').length).toBe(1);
      const pause = faultOf('pause', process);
      expect((await examined(mistake, { faults: pause })).verdicts[0]?.kind).toBe('invalid');
    }),
    { numRuns: runs(40) },
  );
});

describe('a loop that retries forever', () => {
  const way = 'a loop that tries for ever';
  const loop = { client: 'bob', section: 2, way, isRight: false, isInside: true, concurrency: 1 };
  const found = async (limits: Partial<Limits>) => (await examined(loop, { limits })).verdicts[0];

  test('breaks `progress` after the time that the probe gets', async () => {
    const { ttlUs } = clientOf('bob', []);
    const enough = 500 * MS + 2 * ttlUs + 10 * MS;
    expect(await found({ endUs: enough })).toMatchObject({ kind: 'invalid', rule: 'never-ended' });
    expect(await found({ endUs: enough - 1 })).toMatchObject({ kind: 'unknown' });
  });

  test('is unknown if the run reached its event limit or ended before it healed', async () => {
    expect(await found({ maxEvents: 300 })).toMatchObject({ kind: 'unknown' });
    expect(await found({ endUs: 400 * MS })).toMatchObject({ kind: 'unknown' });
  });
});

test('if a section never ends, no claim holds, and a broken claim stays broken', async () => {
  const way = 'a promise that is never resolved';
  const place = { client: 'bob', section: 2, isInside: true, concurrency: 1 };
  const mistake = { ...place, way, isRight: false };
  const claims = ['mutual-exclusion', 'owner-only-release', 'cross-key'];
  const { verdicts } = await examined(mistake, { claims });
  const [broken, ...others] = verdicts;
  expect(broken).toMatchObject({ kind: 'invalid', claim: 'mutual-exclusion' });
  const reason = "bob's section 2 never ended";
  expect(others).toMatchObject([
    { kind: 'unknown', reason },
    { kind: 'unknown', reason },
  ]);
});

test('each section that began has one end, and the counts add up', () => {
  fc.assert(
    fc.property(runnablePlans({ probe: true }), (plan) => {
      const counter = new SectionCounter();
      counter.add(0, plan, run(plan));
      const counts = counter.counts();
      const { planned, began, ended, gaveUp, crashed, open } = counts;
      expect(ended + gaveUp + failedSections(counts) + crashed + open).toBe(began);
      expect(began).toBeLessThanOrEqual(planned);
      // A section that never began was behind one that crashed or never ended.
      if (began < planned) expect(crashed + open).toBeGreaterThan(0);
    }),
    { numRuns: runs(1000) },
  );
});
