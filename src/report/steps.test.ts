import { describe, expect, it } from 'vitest';
import type { Trace } from '../core/history/trace.ts';
import { zombieFinding, zombieTrace } from './sample.fixture.ts';
import { countSteps, essentialSteps, lastOfStory, listSteps } from './steps.ts';
import { stormTrace } from './storm.fixture.ts';

const { evidence } = zombieFinding.verdict;
const options = { evidence, faults: zombieFinding.plan.faults };

describe('listSteps', () => {
  it('has every event once, in order, and the leases that run out', () => {
    const steps = listSteps(zombieTrace, options);
    const events = steps.flatMap(({ event }) => (event === null ? [] : [event]));
    expect(events).toEqual(zombieTrace.events.map((_, at) => at));
    const derived = steps.filter(({ event }) => event === null);
    expect(derived.map(({ atUs, text }) => [atUs, text])).toEqual([
      [11_000, "alice's lease, token 1, is over"],
      [22_000, "bob's lease, token 2, is over"],
    ]);
  });

  it('ends a lease before what happens at its last instant', () => {
    const steps = listSteps(zombieTrace, options);
    const over = steps.findIndex(({ event, atUs }) => event === null && atUs === 11_000);
    expect(steps[over + 1]?.atUs).toBe(11_000);
    expect(steps[over - 1]?.atUs).toBeLessThan(11_000);
  });

  it('never goes back in time', () => {
    for (const trace of [zombieTrace, stormTrace]) {
      const times = listSteps(trace, { evidence: [], faults: [] }).map(({ atUs }) => atUs);
      expect(times).toEqual([...times].sort((left, right) => left - right));
    }
  });

  it('says what a clock fault of the plan does', () => {
    const clock = { kind: 'clock', process: 'bob', when: { kind: 'at', atUs: 0 } } as const;
    const faults = [{ ...clock, stepUs: -5000, ratePpm: 200 }];
    const events = stormTrace.events.map((event) =>
      event.kind === 'fault' && event.fault === 'clock' ? { ...event, index: 0 } : event,
    );
    const steps = listSteps({ ...stormTrace, events }, { evidence: [], faults });
    expect(steps.map(({ text }) => text)).toContain('◷ clock steps −5 ms, runs +200 ppm');
  });
});

describe('essentialSteps', () => {
  it('shows which nodes a quorum consists of, where the story is of grants', () => {
    const reply = { from: 'lock-1', to: 'alice', message: 'alice/1/acquire/1/reply' };
    const asked = { from: 'alice', to: 'lock-1', message: 'alice/1/acquire/1/request' };
    const body = { kind: 'set', key: 'db', value: 7, ttlUs: 10_000 };
    const grant = {
      ...({ kind: 'grant', atUs: 2000, process: 'alice', client: 'alice', lock: 'db' } as const),
      ...{ ordinal: 1, token: 0, ttlUs: 10_000, sentAtUs: 0, untilUs: 11_000, message: '' },
    };
    const shown = (kind: string, isOfGrants: boolean): readonly string[] => {
      const trace: Trace = {
        ...stormTrace,
        processes: [{ name: 'lock-1', role: 'lock' }],
        events: [
          { kind: 'send', atUs: 0, ...asked, body },
          { kind: 'send', atUs: 1000, ...reply, body: { kind } },
          grant,
        ],
      };
      const evidence = isOfGrants ? [{ role: 'later grant', event: 2 }] : [];
      return essentialSteps(trace, { evidence, faults: [] }).map(({ text }) => text);
    };
    const granted = 'grants db to alice, until 11 ms';
    expect(shown('done', true)).toEqual(['sets db for alice, ttl 10 ms', granted]);
    expect(shown('nil', true)).toEqual([granted]);
    expect(shown('done', false)).toEqual([granted]);
  });

  it('ends with the last piece of evidence and carries its part', () => {
    const steps = essentialSteps(zombieTrace, options);
    expect(steps.at(-1)).toMatchObject({ process: 'store', part: 'stale write' });
    expect(steps.at(-1)?.event).toBe(lastOfStory(zombieTrace, evidence));
    expect(countSteps(zombieTrace, options)).toBe(11);
  });

  it('shows the sending of the write that is the evidence, and of no other', () => {
    const sends = essentialSteps(zombieTrace, options).filter(({ text }) => /^sends/.test(text));
    expect(sends.map(({ text }) => text)).toEqual([
      'sends write x = 1, token 1 (cached, 2 is current) → store',
    ]);
  });

  it('shows everything up to the healing where there is no evidence', () => {
    const steps = essentialSteps(stormTrace, { evidence: [], faults: [] });
    const texts = steps.map(({ text }) => text);
    expect(texts).toContain('✖ crashes');
    expect(texts).toContain('↻ restarts');
    expect(texts).toContain('⊘ refuses x = 1, token 1, has seen 2');
    expect(texts).toContain('✕ loses write (drop)');
  });
});
