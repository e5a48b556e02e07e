import { describe, expect, it } from 'vitest';
import type { Evidence } from '../check/verdict.ts';
import type { Trace } from '../core/history/trace.ts';
import { manyZombies, zombieFinding } from './sample.fixture.ts';
import { stormTrace } from './storm.fixture.ts';
import { describePlainly } from './story-steps.ts';

const textsOf = (trace: Trace, evidence: readonly Evidence[]): readonly string[] =>
  describePlainly(trace, evidence).map(({ text }) => text);

describe('tellPlainly', () => {
  const { trace, verdict } = zombieFinding;
  const sentences = textsOf(trace, verdict.evidence);

  it('describes the pause, the expired lease and the overwritten value', () => {
    expect(sentences).toEqual([
      'At 1 ms `lock` grants `db` token 1 to `alice` for 10 ms, until 11 ms.',
      'At 3 ms `alice` is paused for 17 ms, until 20 ms, while it holds `db`.',
      "At 11 ms `alice`'s lease of `db` (token 1) expires.",
      'At 12 ms `lock` grants `db` token 2 to `bob` for 10 ms, until 22 ms.',
      "At 14 ms `store` accepts `bob`'s `x` = 2, token 2.",
      'At 20 ms `alice` resumes.',
      "At 21 ms `store` accepts `alice`'s `x` = 1, token 1, over `bob`'s 2, although `alice`'s lease expired at 11 ms.",
    ]);
  });

  it('names the lease that had not ended at a grant', () => {
    const [first] = trace.events.filter((event) => event.kind === 'grant');
    if (first?.kind !== 'grant') expect.fail('the sample has a grant');
    const early = { ...first, atUs: 5000, client: 'bob', ordinal: 2, token: 2 };
    const both = { ...trace, events: [first, early] };
    expect(textsOf(both, [{ role: 'later grant', event: 1 }])[1]).toContain(
      "although `alice`'s lease lasts until",
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
      'At 5 ms `lock` grants `db` token 1 to `bob`, although `alice` has not released it.',
    ]);
  });

  it('combines a write that replicas accept at one instant, and names them', () => {
    const write = trace.events.find((event) => event.kind === 'write');
    if (write?.kind !== 'write') expect.fail('the sample has a write');
    const events = ['store-1', 'store-2', 'store-3'].map((process) => ({ ...write, process }));
    const [first, ...rest] = textsOf({ ...trace, events }, [{ role: 'write', event: 2 }]);
    expect(first).toMatch(
      /^At \d+ ms `store-1`, `store-2` and `store-3` accept `bob`'s `db.x` = 2, token 2\.$/,
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
    expect(sentences[3]).toMatch(/^… \(\d+ more events\) …$/);
    expect(sentences.at(-1)).toContain('over `bob`');
  });

  it('describes a crash', () => {
    const all = textsOf({ ...stormTrace, events: stormTrace.events.slice(0, 40) }, []).join(' ');
    expect(all).toContain('`alice` crashes');
  });
});
