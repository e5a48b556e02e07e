import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { planOf } from '../../systems/plan.fixture.ts';
import { alice, type Body, catalogueOf, happen, write } from './body.fixture.ts';
import { runAsync } from './run-async.ts';

const ERROR_PLACE = /forgotten\.test\.ts:\d+:\d+/;

/** Returns the error of a failed run, or null if the run did not fail. */
function failureOf({ ending }: Trace): string | null {
  return ending.kind === 'failed' ? ending.error : null;
}

/** Returns the end of each section, such as `alice/1 Error: no at forgotten.test.ts`. */
function textsOf({ sections = [] }: Trace): readonly string[] {
  return sections.flatMap(({ section, end }) => {
    if (end.kind === 'returned') return end.isUnguarded ? [`${section} returned`] : [];
    if (end.kind !== 'failed') return [];
    const place = end.error.place === null ? 'nowhere' : end.error.place.replace(/:\d+/g, '');
    return [`${section} ${end.error.text.replace(/:\d+/g, '')} at ${place}`];
  });
}

async function settles(promise: Promise<unknown>): Promise<void> {
  await promise;
}

describe('work that is pending when its guard is left, or its section ends, fails the run', () => {
  const LEFT = 'was still in progress when its guard was left: await it';
  const ENDED = 'was still in progress when its section ended: await it';

  test.each<[string, string, Body]>([
    [
      'work',
      `guard.work() at HERE ${LEFT}`,
      async (section) => {
        const guard = section.guard();
        void guard.work();
        guard.leave();
        await wait(50); // it ends long before the section
      },
    ],
    [
      'a write',
      `guard.write('x') at HERE ${LEFT}`,
      async (section) => {
        const guard = section.guard();
        await guard.read('x');
        void guard.write('x', 1);
        guard.leave();
      },
    ],
    [
      'a read',
      `guard.read('x') at HERE ${ENDED}`,
      async (section) => {
        void section.guard().read('x');
      },
    ],
    [
      'work beside a timer',
      `guard.work() at HERE ${ENDED}`,
      async (section) => {
        await Promise.race([section.guard().work(), wait(1)]);
      },
    ],
  ])('%s', async (_, expected, body) => {
    const error = failureOf(await happen(body));
    expect(error).toMatch(ERROR_PLACE);
    expect(error?.replace(ERROR_PLACE, 'HERE')).toBe(expected);
  });

  test('with the place of the work', async () => {
    const trace = await happen(async (section) => void section.guard().work());
    expect(textsOf(trace)).toEqual([
      `alice/1 Unfinished: guard.work() at forgotten.test.ts ${ENDED} at forgotten.test.ts`,
    ]);
  });
});

describe('no pending work is reported', () => {
  test.each<[string, Body]>([
    [
      'if all of it is awaited',
      async (section) => {
        const guard = section.guard();
        await Promise.all([guard.read('x'), guard.read('y')]);
        await guard.work();
        guard.leave();
      },
    ],
    [
      'if the section ends with an error, as after a deadline',
      async (section) => {
        const guard = section.guard();
        const late = wait(1).then(() => Promise.reject(new Error('too late')));
        try {
          await Promise.race([guard.work(), late]);
        } finally {
          guard.leave();
        }
      },
    ],
  ])('%s', async (_, body) => {
    expect(failureOf(await happen(body))).toBeNull();
  });

  test('if one of several is rejected while the others are pending', async () => {
    const body: Body = async (section) => {
      const guard = section.guard();
      const both = Promise.all([guard.read('x'), wait(20).then(() => guard.read('y'))]);
      await both.catch(() => {});
      void guard.read('z').catch(() => {});
      guard.leave();
    };
    const refused = { dropped: ['alice/1/read/1/reply'] };
    expect(failureOf(await runAsync(dropping(refused.dropped), catalogueOf(body)))).toBeNull();
  });
});

/** Returns a plan of one section in which these messages are dropped. */
function dropping(messages: readonly string[]): Plan {
  const client = { ...alice(1, [write]), storeTimeoutUs: 10_000 };
  const plan = planOf({ lock: 'own', store: 'unfenced', clients: [client] });
  const faults = messages.map(
    (message) => ({ kind: 'drop', which: { kind: 'message', message } }) as const,
  );
  return { ...plan, network: { link: 'datagram', latencyUs: 1000 }, faults };
}

describe('a pending call to a server is reported by its section, and the run continues', () => {
  const ENDED = 'was still in progress when its section ended: await it';

  test('at its end, with the place of the call', async () => {
    const trace = await happen(async (section, _, echo) => {
      const guard = section.guard();
      await guard.work();
      guard.leave();
      void section.call(echo, { label: 'release', request: null });
    });
    expect(failureOf(trace)).toBeNull();
    const at = `forgotten.test.ts ${ENDED} at forgotten.test.ts`;
    expect(textsOf(trace)).toEqual([
      `alice/1 Unfinished: the call release at ${at}`,
      `alice/2 Unfinished: the call release at ${at}`,
    ]);
  });

  test('but not if another call of its kind was answered, as with a quorum', async () => {
    const trace = await happen(async (section, _, echo) => {
      section.guard().leave();
      const ask = (): Promise<unknown> => section.call(echo, { label: 'ask', request: null });
      const first = ask();
      await wait(0.2);
      void ask();
      await first;
    });
    expect(textsOf(trace)).toEqual([]);
  });
});

describe('an error that ends a section is reported with its place', () => {
  test('in code that waits', async () => {
    const trace = await happen(async (section) => {
      section.guard().leave();
      await wait(1);
      throw new Error(`no: ${section.id}`);
    });
    expect(textsOf(trace)).toEqual([
      'alice/1 Error: no: 1 at forgotten.test.ts',
      'alice/2 Error: no: 2 at forgotten.test.ts',
    ]);
  });

  test('across an await, and for an unhandled rejection', async () => {
    const trace = await happen(async (section) => {
      section.guard().leave();
      void settles(Promise.reject(new TypeError('unheard of')));
      await wait(5);
    });
    expect(failureOf(trace)).toBe('unheard of');
    expect(textsOf(trace)).toEqual(['alice/1 TypeError: unheard of at forgotten.test.ts']);
  });

  test('except for a section that returns without a guard', async () => {
    expect(textsOf(await happen(async () => {}))).toEqual(['alice/1 returned', 'alice/2 returned']);
  });

  test('and is not part of the digest, since it adds no event', async () => {
    const trace = await happen(async () => {});
    expect(trace.events.map(({ kind }) => kind)).not.toContain('section-end');
  });
});

test('a probe whose program never guards tries three times, and not to the limits', async () => {
  const plan = planOf({ lock: 'own', store: 'unfenced', clients: [alice(1, [write])] });
  const probed = { ...plan, limits: { ...plan.limits, probe: true } };
  const calls = { made: 0 };
  const body: Body = async (section, client, echo) => {
    if (client.name === 'probe') calls.made += 1;
    await section.call(echo, { label: 'acquire', request: null });
  };
  const trace = await runAsync(probed, catalogueOf(body));
  expect(trace.ending).toEqual({ kind: 'complete' });
  expect(calls.made).toBe(3);
});
