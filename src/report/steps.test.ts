import { describe, expect, it } from 'vitest';
import { zombieFinding, zombieTrace } from './sample.fixture.ts';
import { countEvents, listSteps } from './steps.ts';
import { stormTrace } from './storm.fixture.ts';

const { evidence } = zombieFinding.verdict;
const options = { evidence, faults: zombieFinding.plan.faults };

describe('listSteps', () => {
  it('lists every event once, in order, and the leases that run out', () => {
    const steps = listSteps(zombieTrace, options);
    const events = steps.flatMap(({ event }) => (event === null ? [] : [event]));
    expect(events).toEqual(zombieTrace.events.map((_, at) => at));
    const derived = steps.filter(({ event }) => event === null);
    expect(derived.map(({ atUs, text }) => [atUs, text])).toEqual([
      [11_000, "alice's lease of db (token 1) expires"],
      [22_000, "bob's lease of db (token 2) expires"],
    ]);
  });

  it('lists the end of a lease before other events at that instant', () => {
    const steps = listSteps(zombieTrace, options);
    const over = steps.findIndex(({ event, atUs }) => event === null && atUs === 11_000);
    expect(steps[over + 1]?.atUs).toBe(11_000);
    expect(steps[over - 1]?.atUs).toBeLessThan(11_000);
  });

  it('numbers main events from 1; messages, calls and ends of leases are details', () => {
    const steps = listSteps(zombieTrace, options);
    const numbers = steps.flatMap(({ number }) => (number === null ? [] : [number]));
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(countEvents(steps)).toBe(numbers.at(-1));
    expect(countEvents([])).toBe(0);
    const details = steps.filter(({ number }) => number === null);
    const kinds = new Set(details.map(({ event }) => zombieTrace.events[event ?? -1]?.kind));
    expect(kinds).toContain('send');
    expect(kinds).toContain('receive');
    expect(kinds).toContain(undefined);
    for (const kind of ['grant', 'write', 'fault', 'resume'] as const) {
      expect(kinds).not.toContain(kind);
    }
  });

  it('labels a grant in the evidence with its letter in the explanation', () => {
    const grants = zombieTrace.events.flatMap(({ kind }, event) =>
      kind === 'grant' ? [{ role: 'earlier grant', event }] : [],
    );
    const steps = listSteps(zombieTrace, { ...options, evidence: grants });
    const parts = steps.flatMap(({ part }) => (part === '' ? [] : [part]));
    expect(parts).toEqual(['A, grant 1', 'B, grant 2']);
  });

  it('never goes back in time', () => {
    for (const trace of [zombieTrace, stormTrace]) {
      const times = listSteps(trace, { evidence: [] }).map(({ atUs }) => atUs);
      expect(times).toEqual([...times].sort((left, right) => left - right));
    }
  });

  it('describes the effect of a clock fault', () => {
    const texts = listSteps(stormTrace, { evidence: [] }).map(({ text }) => text);
    expect(texts).toContain('◷ clock is set 20 ms ahead');
  });
});
