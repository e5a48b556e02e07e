import { describe, expect, it } from 'vitest';
import type { Evidence } from '../check/verdict.ts';
import type { Trace } from '../core/history/trace.ts';
import { describePlainly } from './plain-words.ts';
import { manyZombies, zombieFinding } from './sample.fixture.ts';
import { stormTrace } from './storm.fixture.ts';

const textsOf = (trace: Trace, evidence: readonly Evidence[]): readonly string[] =>
  describePlainly(trace, evidence).map(({ text }) => text);

describe('tellPlainly', () => {
  const { trace, verdict } = zombieFinding;
  const sentences = textsOf(trace, verdict.evidence);

  it('describes the pause, the expired lease and the overwritten value', () => {
    expect(sentences).toEqual([
      'At 1 ms `alice` gets `db`, token 1.',
      'At 3 ms `alice` is paused for 17 ms while it holds `db`: it runs nothing and notices nothing.',
      "At 11 ms `alice`'s lease of `db` runs out.",
      'At 12 ms `bob` gets `db`, token 2.',
      'At 14 ms `bob` writes `x` = 2.',
      'At 20 ms `alice` wakes up and goes on where it was.',
      "At 21 ms `alice` writes `x` = 1, over `bob`'s `x` = 2, although its lease was over at 11 ms.",
    ]);
  });

  it('names the lease that had not ended at a grant', () => {
    const [first] = trace.events.filter((event) => event.kind === 'grant');
    if (first?.kind !== 'grant') expect.fail('the sample has a grant');
    const early = { ...first, atUs: 5000, client: 'bob', ordinal: 2, token: 2 };
    const both = { ...trace, events: [first, early] };
    expect(textsOf(both, [{ role: 'later grant', event: 1 }])[1]).toContain(
      "although `alice`'s lease was to last until",
    );
  });

  it('describes a lease without an end as not released, with the server’s reason', () => {
    const [first] = trace.events.filter((event) => event.kind === 'grant');
    if (first?.kind !== 'grant') expect.fail('the sample has a grant');
    const open = { ...first, untilUs: null };
    const text = 'the pooler sends bob to the backend of alice';
    const log = { kind: 'log', atUs: 5000, process: 'lock', topic: 'why', text } as const;
    const early = { ...open, atUs: 5000, client: 'bob', ordinal: 2 };
    expect(
      textsOf({ ...trace, events: [open, log, early] }, [{ role: 'later grant', event: 2 }]).slice(
        1,
      ),
    ).toEqual([
      `At 5 ms ${text}.`,
      'At 5 ms `bob` gets `db`, token 1, although `alice` has not given it back.',
    ]);
  });

  it('combines a write that replicas accept at one instant, and names them', () => {
    const write = trace.events.find((event) => event.kind === 'write');
    if (write?.kind !== 'write') expect.fail('the sample has a write');
    const events = ['store-1', 'store-2', 'store-3'].map((process) => ({ ...write, process }));
    const [first, ...rest] = textsOf({ ...trace, events }, [{ role: 'write', event: 2 }]);
    expect(first).toMatch(
      /^At \d+ ms `\w+` writes `x` = 2 to `store-1`, `store-2` and `store-3`\.$/,
    );
    expect(rest).toEqual([]);
  });

  it('describes computations of a memoized value, and those without the lock', () => {
    const more = { atUs: 30_000, process: 'carol' } as const;
    const log = { kind: 'log', topic: 'memoize', ...more } as const;
    const events = [
      { ...log, text: 'goes on without the lock on db' },
      { ...log, text: 'refused: the lock on db is held already' },
      { kind: 'mark', point: 'carol/1/computing', ...more } as const,
      { kind: 'mark', point: 'carol/1/computed', ...more } as const,
      { kind: 'mark', point: 'carol/1/checked', ...more } as const,
    ];
    expect(textsOf({ ...trace, events }, [{ role: 'later computation', event: 4 }])).toEqual([
      'At 30 ms `carol` goes on without the lock on db.',
      'At 30 ms `carol` begins to compute the value.',
      'At 30 ms `carol` has computed the value.',
    ]);
  });

  it('shortens a long story to its beginning and its end', () => {
    const long = manyZombies(20);
    const sentences = textsOf(long.trace, long.verdict.evidence);
    expect(sentences).toHaveLength(9);
    expect(sentences[3]).toMatch(/^… \(\d+ more things happen\) …$/);
    expect(sentences.at(-1)).toContain('over `bob`');
  });

  it('describes a crash', () => {
    const all = textsOf({ ...stormTrace, events: stormTrace.events.slice(0, 40) }, []).join(' ');
    expect(all).toContain('`alice` crashes');
  });
});
