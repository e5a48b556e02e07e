import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtIn } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { breaks } from '../../harness.ts';
import { knobsOf, type Turned, turn } from './playground.ts';
import { storesToTry } from './playground-controls.ts';

function planIn(name: string): Plan {
  const file = `fixtures/plans/${name}.yaml`;
  const read = readPlan({ text: readFileSync(file, 'utf8'), file });
  if (read.kind !== 'plan') throw new Error('the fixture is a plan');
  return read.plan;
}

const plan = planIn('zombie-writer-unfenced-grant-order');
const still: Turned = { durations: new Map(), store: 'unfenced', message: '', lateUs: 0 };

describe('knobsOf', () => {
  const knobs = knobsOf(plan);

  it('returns the pause, the ttl and the latency, with unique ids', () => {
    expect(knobs.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^pause of /),
      expect.stringMatching(/^ttl of /),
      'latency of every message',
    ]);
    expect(new Set(knobs.map(({ id }) => id)).size).toBe(knobs.length);
  });

  it('returns the values that `turn` sets', () => {
    for (const { id, valueUs } of knobs) {
      const turned = turn(plan, { ...still, durations: new Map([[id, valueUs + 1000]]) });
      expect(knobsOf(turned).map((knob) => knob.valueUs)).toEqual(
        knobs.map((knob) => (knob.id === id ? valueUs + 1000 : knob.valueUs)),
      );
    }
  });
});

describe('turn', () => {
  it('does not change a plan if nothing is set', () => {
    const { expect: _, ...rest } = plan;
    expect(turn(plan, still)).toEqual(rest);
  });

  it('changes the result of a run', () => {
    const [pause] = knobsOf(plan);
    const short = turn(plan, { ...still, durations: new Map([[pause?.id ?? '', 1000]]) });
    expect(breaks(turn(plan, still), 'grant-order')).toBe(true);
    expect(breaks(short, 'grant-order')).toBe(false);
    expect(breaks(turn(plan, { ...still, store: 'fenced' }), 'grant-order')).toBe(false);
  });

  it('delays one message', () => {
    const { faults } = turn(plan, { ...still, message: 'bob/1/write/1/request', lateUs: 5000 });
    const which = { kind: 'message', message: 'bob/1/write/1/request' };
    expect(faults.at(-1)).toEqual({ kind: 'delay', which, byUs: 5000 });
  });
});

describe('storesToTry', () => {
  it('offers stores that the lock supports and that need no engine', () => {
    const stores = storesToTry(plan, builtIn);
    expect(stores).toContain('unfenced');
    expect(stores).toContain('fenced');
    expect(stores.filter((store) => store.endsWith('-sql'))).toEqual([]);
  });

  it('offers none for plans with user definitions, or with an engine', () => {
    expect(storesToTry({ ...plan, use: { './a.mjs': 'sha256:0' } }, builtIn)).toEqual([]);
    expect(storesToTry(planIn('optimistic-versioned-sql-no-lost-update'), builtIn)).toEqual([]);
    const customPlan = { ...plan, system: { ...plan.system, lock: 'own' } };
    expect(storesToTry(customPlan, builtIn)).toEqual([]);
  });
});
