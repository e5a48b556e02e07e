import { describe, expect, test } from 'vitest';
import type { Log, TraceEvent } from '../core/history/events.ts';
import type { ClientPlan, Work } from '../core/plan/plan.ts';
import { run } from '../run.ts';
import { clientOf, MS, type PlanSetup, planOf } from '../systems/plan.fixture.ts';
import { explain } from './explain.ts';
import { inWords } from './in-words.fixture.ts';
import { singleFlight } from './single-flight.ts';
import {
  acquire,
  answer,
  breachOf,
  grant,
  invoke,
  mark,
  pause,
  read,
  terms,
  unknown,
  verdictOn,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

const MEMOIZE: Work = {
  kind: 'memoize',
  id: 1,
  store: 'store',
  key: 'x',
  value: 7,
  forUs: 10 * MS,
  pieces: 1,
};

function judge(clients: readonly ClientPlan[], setup: Partial<PlanSetup> = {}) {
  const trace = run(planOf({ clients, lock: 'lock-service', store: 'unfenced', ...setup }));
  const verdict = singleFlight.judge(indexTrace(trace), terms);
  const words = verdict.kind === 'invalid' ? inWords(explain(trace, verdict)) : '';
  return { kind: verdict.kind, exercised: verdict.exercised, words };
}

const late = { ttlUs: 40 * MS, section: { thinkUs: 1 * MS } };
const alice = clientOf('alice', [MEMOIZE], { ttlUs: 40 * MS });
const bob = clientOf('bob', [MEMOIZE], late);

describe('a memoized value', () => {
  test('that one client computes while the other waits keeps the claim and exercises it', () => {
    expect(judge([alice, bob])).toEqual({ kind: 'valid', exercised: 1, words: '' });
  });

  test('that no other client wants keeps the claim without exercising it', () => {
    expect(judge([alice])).toMatchObject({ kind: 'valid', exercised: 0 });
    const other = clientOf('bob', [{ ...MEMOIZE, key: 'y' }], late);
    expect(judge([alice, other], { lock: 'none' })).toMatchObject({ kind: 'valid', exercised: 0 });
  });

  test('that is computed again after it was lost keeps the claim', () => {
    const gone = clientOf('bob', [MEMOIZE], { ...late, section: { thinkUs: 60 * MS } });
    const crash = { kind: 'crash', process: 'alice', restartAfterUs: null } as const;
    const faults = [{ ...crash, when: { kind: 'at', atUs: 8 * MS } } as const];
    expect(judge([alice, gone], { lock: 'none', faults })).toMatchObject({ kind: 'valid' });
  });

  test('that two clients compute at once without a lock breaks the claim', () => {
    const found = judge([alice, bob], { lock: 'none' });
    expect(found).toMatchObject({ kind: 'invalid', exercised: 2 });
    expect(found.words).toMatchInlineSnapshot(
      `"\`x\` was computed by two clients at once. Then alice began to compute \`x\` at 4 ms. However, bob began to compute \`x\` as well at 5 ms, while alice was still computing it."`,
    );
  });

  test('that a client computes without the lock after a timeout is described so', () => {
    const hasty = clientOf('bob', [MEMOIZE], { ...late, attempts: 2 });
    expect(judge([alice, hasty]).words).toMatchInlineSnapshot(
      `"\`x\` was computed by two clients at once. Let A be alice's grant 1 of \`db\` (from 3 ms, ttl 40 ms). Then alice began to compute \`x\` under A at 6 ms. However, bob, who did not get the lock in time, began to compute \`x\` as well at 11 ms, while alice was still computing it."`,
    );
  });

  test('that a client computes without the lock after a denial is described so', () => {
    const single = clientOf('bob', [MEMOIZE], { ...late, attempts: 1 });
    const worlds: readonly (readonly [ClientPlan, Partial<PlanSetup>])[] = [
      [single, {}],
      [bob, { lock: 'cache-lock', options: { blocking: 'no' } }],
    ];
    for (const [hasty, setup] of worlds) {
      const { words } = judge([alice, hasty], setup);
      expect(words).toContain('However, bob, who was denied the lock, began to compute');
      expect(words).not.toContain('in time');
    }
  });

  test('that a paused holder and its successor compute is described with the pause', () => {
    const stall = { kind: 'pause', process: 'alice', forUs: 60 * MS, clocks: 'run' } as const;
    const faults = [{ ...stall, when: { kind: 'after', point: 'alice/1/computing' } } as const];
    expect(judge([alice, bob], { faults }).words).toMatchInlineSnapshot(
      `"\`x\` was computed by two clients at once. Let A be alice's grant 1 of \`db\` (from 3 ms, ttl 40 ms) and B be bob's grant 2 (from 44 ms). Then alice began to compute \`x\` under A at 6 ms. However, bob began to compute \`x\` as well under B at 47 ms, while alice was still computing it: alice was paused from 6 ms to 66 ms, before its write."`,
    );
  });
});

describe('in a handwritten trace', () => {
  test('an ended computation does not overlap, and a log of another topic is not a wait', () => {
    const log: Log = { kind: 'log', atUs: 0, process: 'bob', topic: 'other', text: '' };
    const first = [mark(1, 'alice/1/computing'), mark(2, 'alice/1/computed')];
    const apart: TraceEvent[] = [grant(0, 'alice', 1), ...first, mark(2, 'bob/1/computing')];
    expect(verdictOn('single-flight', apart).kind).toBe('valid');
    const both = [
      log,
      mark(1, 'alice/1/computing'),
      pause(1, 'alice', 9),
      mark(2, 'bob/1/computing'),
    ];
    expect(breachOf('single-flight', both).evidence).toEqual([
      '1 earlier computation',
      '3 later computation',
    ]);
  });
});

test('a client without a reply waited without success, even if another client was denied', () => {
  const denied = { kind: 'denied', holder: 'alice' } as const;
  const goesOn: Log = { kind: 'log', atUs: 4000, process: 'bob', topic: 'memoize', text: '' };
  const roleAfter = (...returned: readonly TraceEvent[]): string | undefined => {
    const asked = acquire(2, 'bob/2/acquire');
    const begun = [mark(1, 'alice/1/computing'), asked, ...returned, goesOn];
    const { evidence } = breachOf('single-flight', [...begun, mark(5, 'bob/2/computing')]);
    return evidence[1];
  };
  expect(roleAfter(answer(3, 'bob/2/acquire', denied))).toBe('3 denied once');
  expect(roleAfter(unknown(3, 'bob/2/acquire'))).toBe('3 wait in vain');
  expect(roleAfter(answer(3, 'carol/3/acquire', denied))).toBe('3 wait in vain');
});

test('a client that reads again the value that it computes does not contest it', () => {
  const asks = (client: string): TraceEvent => invoke(1, `${client}/1/read`);
  const looks = (ms: number, client: string): TraceEvent => read(ms, client, 1, 0);
  const begun = [asks('alice'), looks(1, 'alice'), mark(2, 'alice/1/computing')];
  const exercised = (...events: readonly TraceEvent[]): number =>
    verdictOn('single-flight', [...begun, ...events]).exercised;
  expect(exercised(looks(3, 'alice'))).toBe(0);
  expect(exercised(asks('bob'), looks(3, 'bob'))).toBe(1);
  // A write is not a request for the value.
  const writes = invoke(1, 'alice/1/write', { key: 'y' });
  const found = [asks('alice'), looks(1, 'alice'), writes, mark(2, 'alice/1/computing')];
  expect(verdictOn('single-flight', [...found, asks('bob'), looks(3, 'bob')]).exercised).toBe(1);
});

test('the computed key is the last one that its program read before the computation', () => {
  const breach = breachOf('single-flight', [
    invoke(1, 'alice/1/read', { key: 'y' }),
    mark(2, 'alice/1/computing'),
    invoke(3, 'bob/2/read', { key: 'w' }),
    invoke(4, 'bob/2/read-2', { key: 'y' }),
    invoke(4, 'bob/2/write', { key: 'v' }),
    invoke(4, 'carol/3/read', { key: 'z' }),
    mark(5, 'bob/2/computing'),
    invoke(6, 'bob/2/read-3', { key: 'u' }),
  ]);
  expect(breach.words).toBe(
    '`y` was computed by two clients at once. Then alice began to compute `y` at 2 ms. ' +
      'However, bob began to compute `y` as well at 5 ms, while alice was still computing it.',
  );
});
