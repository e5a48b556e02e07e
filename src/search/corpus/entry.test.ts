import { describe, expect, test } from 'vitest';
import type { Expectation, Plan } from '../../core/plan/plan.ts';
import { clientOf, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { addIfNew, type CorpusEntry, superfluousIn } from './entry.ts';
import { signatureOf } from './signature.ts';

/** A plan that breaks `grant-order`; the more `attempts`, the less simple. */
function entryOf(
  file: string,
  { attempts = 1, outcome = 'reproduced', expected = 'reproduced', system = 'unfenced' }: More = {},
): CorpusEntry {
  const made = planOf({ clients: [clientOf('alice', [writeOf(1)], { attempts })] });
  const plan: Plan = { ...made, system: { ...made.system, name: system } };
  const evidence = [{ role: 'stale write', event: 0 }];
  const verdict = { claim: 'grant-order', exercised: 1, rule: '', evidence } as const;
  const signature = signatureOf(
    plan,
    outcome === 'reproduced' ? { kind: 'invalid', ...verdict } : { kind: 'valid', ...verdict },
  );
  return { file, plan, signature, outcome, expected };
}

interface More {
  readonly attempts?: number;
  readonly outcome?: Expectation['outcome'];
  readonly expected?: Expectation['outcome'];
  readonly system?: string;
}

describe('a corpus accepts', () => {
  test('a plan of a new kind', () => {
    expect(addIfNew(entryOf('new.yaml'), [])).toEqual({ kind: 'new' });
    const others = [entryOf('a.yaml', { system: 'other' })];
    expect(addIfNew(entryOf('new.yaml'), others)).toEqual({ kind: 'new' });
    const { plan, ...rest } = entryOf('b.yaml');
    const elsewhere = { ...rest, plan: { ...plan, scenario: 'other' } };
    expect(addIfNew(entryOf('new.yaml'), [elsewhere])).toEqual({ kind: 'new' });
  });

  test('no second plan of a kind, and names the simplest one that it has', () => {
    const entries = [entryOf('a.yaml', { attempts: 9 }), entryOf('b.yaml', { attempts: 2 })];
    expect(addIfNew(entryOf('new.yaml', { attempts: 2 }), entries)).toEqual({
      kind: 'known',
      of: entries[1],
    });
  });

  test('a simpler plan instead of the simplest', () => {
    const entries = [entryOf('a.yaml', { attempts: 9 }), entryOf('b.yaml', { attempts: 2 })];
    expect(addIfNew(entryOf('new.yaml'), entries)).toEqual({ kind: 'simpler', than: entries[1] });
  });

  test('a plan that breaks next to a guard of its shape', () => {
    const guard = entryOf('guard.yaml', { outcome: 'fixed', expected: 'fixed' });
    expect(addIfNew(entryOf('new.yaml'), [guard])).toEqual({ kind: 'new' });
  });
});

describe('a superfluous plan', () => {
  test('is any but the simplest of its kind; of equals, the first by name stays', () => {
    const entries = [
      entryOf('c.yaml', { attempts: 4 }),
      entryOf('b.yaml', { attempts: 2 }),
      entryOf('a.yaml', { attempts: 2 }),
      entryOf('d.yaml', { system: 'other' }),
    ];
    expect(superfluousIn(entries)).toEqual([
      { kind: 'duplicate', entry: entries[0], of: entries[2] },
      { kind: 'duplicate', entry: entries[1], of: entries[2] },
    ]);
  });

  test('is one that no longer tests anything, unless it expects that', () => {
    const idle = entryOf('a.yaml', { outcome: 'inert' });
    const meant = entryOf('b.yaml', { outcome: 'inert', expected: 'inert' });
    expect(superfluousIn([idle, meant])).toEqual([{ kind: 'inert', entry: idle }]);
  });
});

test('an inert plan is never the simplest of its kind, and is superfluous unless kept so', () => {
  const inert = entryOf('a.yaml', { outcome: 'inert', expected: 'reproduced' });
  const asKept = entryOf('b.yaml', { outcome: 'inert', expected: 'inert' });
  const guard = entryOf('c.yaml', { attempts: 9, outcome: 'fixed', expected: 'fixed' });
  expect(superfluousIn([inert, asKept, guard])).toEqual([{ kind: 'inert', entry: inert }]);
});
