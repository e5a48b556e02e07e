import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import { run, whyRefused } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../plan.fixture.ts';

const alice = clientOf('alice', [writeOf(1)]);

function planWith(faults: readonly Fault[] = [], store = 'check-sequencer') {
  return planOf({ clients: [alice], store, faults });
}

describe('a store that asks the lock service', () => {
  test('takes two messages more for a write, and applies it when the answer has come', () => {
    const trace = run(planWith());
    const [write] = eventsOf(trace, 'write');
    expect(write).toMatchObject({ isAccepted: true, value: 1, atUs: 5 * MS });
    const asked = eventsOf(trace, 'invoke').filter(({ process }) => process === 'store');
    expect(asked).toMatchObject([
      { operation: 'alice/1/write/1/check', call: { verb: 'check', lock: 'db', token: 1 } },
    ]);
  });

  test('refuses a write whose lease is over, even if nobody holds the lock since', () => {
    const when = { kind: 'before', point: 'alice/1/write' } as const;
    const pause: Fault = { kind: 'pause', process: 'alice', when, forUs: 60 * MS, clocks: 'run' };
    expect(eventsOf(run(planWith([pause])), 'write')).toMatchObject([{ isAccepted: false }]);
    const fenced = run(planWith([pause], 'fenced'));
    expect(eventsOf(fenced, 'write')).toMatchObject([{ isAccepted: true }]);
  });

  test('refuses what it cannot verify while the lock service is down', () => {
    const when = { kind: 'before', point: 'alice/1/write' } as const;
    const crash: Fault = { kind: 'crash', process: 'lock', when, restartAfterUs: 90 * MS };
    expect(eventsOf(run(planWith([crash])), 'write')).toMatchObject([{ isAccepted: false }]);
  });

  test('forgets in a crash what it was asking', () => {
    const when = { kind: 'at', atUs: 4 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'store', when, restartAfterUs: MS };
    const trace = run(planWith([crash]));
    expect(eventsOf(trace, 'write')).toEqual([]);
    expect(trace.ending.kind).toBe('complete');
  });

  test('cannot be put behind a lock that nobody can ask', () => {
    const plan = planOf({ clients: [alice], lock: 'none', store: 'check-sequencer' });
    expect(whyRefused(plan)).toBe('none cannot be asked by the store check-sequencer');
  });
});
