import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { zombieFinding, zombieTrace } from './sample.fixture.ts';
import { lastOfStory, listSteps } from './steps.ts';
import { stormTrace } from './storm.fixture.ts';
import { byRank, essentialSteps, fitSteps, isSaid, numbersSaid } from './story-steps.ts';

const { evidence } = zombieFinding.verdict;
const options = { evidence, faults: zombieFinding.plan.faults };

describe('essentialSteps', () => {
  it('shows the nodes of a quorum if the evidence is a grant', () => {
    const reply = { from: 'lock-1', to: 'alice', message: 'alice/1/acquire/1/reply' };
    const asked = { from: 'alice', to: 'lock-1', message: 'alice/1/acquire/1/request' };
    const body = { kind: 'set', key: 'db', value: 7, ttlUs: 10_000 };
    const grant: TraceEvent = {
      kind: 'grant',
      atUs: 2000,
      process: 'alice',
      client: 'alice',
      lock: 'db',
      ordinal: 1,
      token: 0,
      ttlUs: 10_000,
      sentAtUs: 0,
      untilUs: 11_000,
      message: '',
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
      return essentialSteps(trace, { evidence }).map(({ text }) => text);
    };
    const granted = 'grants db to alice for 10 ms, until 11 ms';
    expect(shown('done', true)).toEqual(['sets db for alice, ttl 10 ms', granted]);
    expect(shown('nil', true)).toEqual([granted]);
    expect(shown('done', false)).toEqual([granted]);
  });

  it('ends with the last piece of evidence, labeled with its part', () => {
    const steps = essentialSteps(zombieTrace, options);
    expect(steps.at(-1)).toMatchObject({ process: 'store', part: 'stale write' });
    expect(steps.at(-1)?.event).toBe(lastOfStory(zombieTrace, evidence));
  });

  it('shows the send of the write in the evidence, and no other send', () => {
    const sends = essentialSteps(zombieTrace, options).filter(({ text }) => /^sends/.test(text));
    expect(sends.map(({ text }) => text)).toEqual([
      'sends write x = 1, token 1 (cached, 2 is current) → store',
    ]);
  });

  it('shows everything up to the healing if there is no evidence', () => {
    const steps = essentialSteps(stormTrace, { evidence: [] });
    const texts = steps.map(({ text }) => text);
    expect(texts).toContain('✖ crashes');
    expect(texts).toContain('↻ restarts');
    expect(texts).toContain("⊘ refuses alice's x = 1, token 1, highest seen 2");
    expect(texts).toContain('✕ loses write (drop)');
  });
});

describe('the numbers in a text', () => {
  it('are times, tokens, grants and plain numbers, but no part of a name', () => {
    const words =
      "A be alice's grant 1 of `db-2` (from 1.5 ms, ttl 10 s): alice/1/write wrote 1,000 with token 3.";
    expect(numbersSaid(words)).toEqual(['grant 1', '1.5 ms', '10 s', '1,000', 'token 3']);
  });

  it('are covered by a line with a more specific noun, but not by another noun', () => {
    expect(isSaid('1', 'grants token 1 to bob')).toBe(true);
    expect(isSaid('grant 1', 'grants token 1 to bob')).toBe(false);
    expect(isSaid('10 ms', 'x = 10')).toBe(false);
  });

  it('add the detail or the aside that covers them, and nothing else', () => {
    const textsFor = (words: string): readonly string[] => {
      const plain = essentialSteps(zombieTrace, options).map(({ text }) => text);
      const steps = essentialSteps(zombieTrace, { ...options, words });
      return steps.map(({ text }) => text).filter((text) => !plain.includes(text));
    };
    expect(textsFor('bob wrote with token 2 at 14 ms')).toEqual([]);
    expect(textsFor('the request, sent at 0 ms')).toHaveLength(1);
    expect(textsFor('its highest token was 0').join()).toMatch(/accepts.*highest token before: 0/);
    expect(textsFor('it was sent at 13 ms').join()).toMatch(
      /accepts bob's x = 2, token 2, sent at 13 ms/,
    );
  });
});

describe('fitSteps', () => {
  const steps = listSteps(zombieTrace, options);

  it('drops ends of leases first, which their grants contain', () => {
    const ends = steps.filter(({ event }) => event === null).length;
    const left = fitSteps(steps, steps.length - 1);
    expect(left).toEqual(steps.filter(({ event }) => event !== null));
    expect(left).toHaveLength(steps.length - ends);
  });

  it('prefers evidence to all other steps', () => {
    const left = fitSteps(steps, 5);
    expect(left).toHaveLength(5);
    const parts = (of: typeof steps): number => of.filter(({ part }) => part !== '').length;
    expect(parts(left)).toBe(parts(steps));
  });

  it('combines the steps of a process at one instant if there is too much evidence', () => {
    const parts = steps.map((step) => ({ ...step, weight: 0 as const, part: 'p' }));
    const events = parts.filter(({ event }) => event !== null);
    const instants = new Set(events.map(({ atUs, process }) => `${atUs} ${process}`)).size;
    const left = fitSteps(parts, events.length - 1);
    expect(left.length).toBeLessThan(events.length);
    expect(left.length).toBeGreaterThanOrEqual(instants);
    const said = left.map(({ text }) => text).join();
    expect(events.filter(({ text }) => !said.includes(text))).toEqual([]);
  });

  it('ranks by weight, and among equals later steps first', () => {
    expect(byRank([2, 0, 2, 1])).toEqual([1, 3, 2, 0]);
  });
});
