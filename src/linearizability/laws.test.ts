/** Tests which changes to a history keep its verdict, and which must change it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import {
  drawCasRegister,
  drawLock,
  drawLongHistory,
  drawUniqueRegister,
  type LongShape,
} from '../../tools/oracle/long-history.ts';
import {
  drawHistory,
  type HistoryShape,
  type Repertoire,
} from '../../tools/oracle/random-history.ts';
import {
  casRegisters,
  fencedMutexes,
  fencedRegisters,
  keyValues,
  registers,
} from '../../tools/oracle/repertoires.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory, decideHistory } from './check-history.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import { fencedMutex } from './models/fenced-mutex.ts';
import { type FencedCall, fencedRegister } from './models/fenced-register.ts';
import { type CasRegisterCall, casRegister, register } from './models/register.ts';
import { leaveOut, truncateHistory } from './relax.ts';

const shape: HistoryShape = {
  operations: 10,
  clients: 4,
  longest: 8,
  wrong: 8,
  unknown: 12,
  failed: 5,
};

const seeds = fc.integer({ min: 0, max: 1_000_000 });

/** Asserts `law` for drawn histories of the model, many of each verdict. */
function forAll<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  law: (history: History<Call>, kind: string, pick: number) => void,
): void {
  const met = new Map<string, number>();
  fc.assert(
    fc.property(seeds, fc.nat({ max: 99 }), (seed, pick) => {
      const history = drawHistory(seed, repertoire, shape);
      const { kind } = checkHistory(history, repertoire.model);
      met.set(kind, (met.get(kind) ?? 0) + 1);
      law(history, kind, pick);
    }),
    { numRuns: runs(1_000) },
  );
  // By bad luck, a hundred histories may include only two of one kind.
  const least = runs(1_000) * 0.06 - 5;
  expect(met.get('valid')).toBeGreaterThan(least);
  expect(met.get('invalid')).toBeGreaterThan(least);
}

function forEachModel(
  law: <S extends Json, C extends CallData>(repertoire: Repertoire<S, C>) => void,
): void {
  law(registers);
  law(casRegisters);
  law(keyValues);
  law(fencedMutexes);
  law(fencedRegisters);
}

describe('a verdict is unchanged if', () => {
  it('values are renamed', () => {
    const renamed = (value: unknown): unknown => (typeof value === 'number' ? 70 - value : value);
    const rename = (call: CasRegisterCall): CasRegisterCall =>
      JSON.parse(JSON.stringify(call, (_, value: unknown) => renamed(value)));
    forAll(casRegisters, (history, kind) => {
      const other = history.map((operation) => ({ ...operation, call: rename(operation.call) }));
      expect(checkHistory(other, casRegister()).kind).toBe(kind);
    });
  });
  it('time is shifted and stretched', () => {
    forEachModel((repertoire) => {
      const later = (position: number): number => 2.5 * position + 1e9;
      forAll(repertoire, (history, kind) => {
        const other = history.map((operation) => {
          const end = operation.return === null ? null : later(operation.return);
          return { ...operation, invoke: later(operation.invoke), return: end };
        });
        expect(checkHistory(other, repertoire.model).kind).toBe(kind);
      });
    });
  });
  it('clients are renamed and the list is rotated', () => {
    forEachModel((repertoire) => {
      forAll(repertoire, (history, kind, pick) => {
        const turned = [...history.slice(pick % 10), ...history.slice(0, pick % 10)];
        const other = turned.map((operation) => ({ ...operation, client: `${operation.client}'` }));
        expect(checkHistory(other, repertoire.model).kind).toBe(kind);
      });
    });
  });
  it('a valid history is cut at any operation', () => {
    forEachModel((repertoire) => {
      forAll(repertoire, (history, kind, pick) => {
        const at = pick % history.length;
        if (kind !== 'valid' || history[at]?.outcome !== 'ok') return;
        const prefix = truncateHistory(history, at, pick % 2 === 0 ? 'before' : 'after');
        expect(checkHistory(prefix, repertoire.model).kind).toBe('valid');
      });
    });
  });
  it('a valid history loses pure operations', () => {
    forEachModel((repertoire) => {
      const { model } = repertoire;
      forAll(repertoire, (history, kind, pick) => {
        if (kind !== 'valid') return;
        const less = history.map((operation, index) => {
          return index % 3 === pick % 3 && model.isPure?.(operation.call)
            ? leaveOut(operation)
            : operation;
        });
        expect(checkHistory(less, model).kind).toBe('valid');
      });
    });
  });
});

const long: LongShape = { operations: 400, clients: 6 };

/** Expects a legal history to become invalid by `change` at the first, middle and last place. */
function expectCaught<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  places: readonly number[],
  change: (operation: Operation<Call>) => Operation<Call>,
): void {
  expect(checkHistory(history, model).kind).toBe('valid');
  expect(places.length).toBeGreaterThan(0);
  for (const at of [places[0], places[places.length >> 1], places.at(-1)]) {
    const broken = history.map((operation, index) =>
      index === at ? change(operation) : operation,
    );
    expect(checkHistory(broken, model).kind).toBe('invalid');
    expect(decideHistory(broken, model, { isSearchOnly: true }).kind).toBe('invalid');
  }
}

function placesOf<Call>(
  history: History<Call>,
  fits: (operation: Operation<Call>) => boolean,
): number[] {
  return [...history.keys()].filter((index) => history.slice(index, index + 1).some(fits));
}

const few = { numRuns: runs(25) };

describe('a history of hundreds of operations is invalid with one', () => {
  it('stale read', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const history = drawUniqueRegister(seed, long);
        const writes = history.filter(({ call }) => call.name === 'write');
        /**
         * A value that was overwritten before the read began, by a write called after its own
         * returned.
         */
        const staleFor = (read: Operation<CallData>): Operation<CallData> | undefined =>
          writes.find((old) =>
            writes.some(
              (newer) => newer.invoke > (old.return ?? 0) && (newer.return ?? 0) < read.invoke,
            ),
          );
        const places = placesOf(
          history,
          (operation) => operation.call.name === 'read' && staleFor(operation) !== undefined,
        );
        expectCaught(history, register(0), places, (operation) => {
          const value = writes.find((write) => write === staleFor(operation))?.call.value ?? 0;
          const call = { name: 'read', key: 'x', value } as const;
          return { ...operation, call };
        });
      }),
      few,
    );
  });
  it('read of a value that was never written', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const history = drawCasRegister(seed, long, 40);
        const places = placesOf(history, ({ call }) => call.name === 'read');
        expectCaught(history, casRegister(0), places, (operation) => {
          const call = { name: 'read', key: 'x', value: 77 } as const;
          return { ...operation, call };
        });
      }),
      few,
    );
  });
  it('double grant', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const history = drawLock(seed, { ...long, longestIdle: 400 });
        const places = placesOf(history, (denied) => {
          if (denied.call.name !== 'acquire' || denied.call.answer !== 'denied') return false;
          return history.some(({ client, call, return: end }, index) => {
            if (call.name !== 'acquire' || call.answer !== 'granted') return false;
            const release = history.slice(index + 1).find((other) => other.client === client);
            const until = release?.invoke ?? Number.POSITIVE_INFINITY;
            return (end ?? 0) < denied.invoke && (denied.return ?? 0) < until;
          });
        });
        expectCaught(history, fencedMutex(), places, (operation) => {
          const { client: owner } = operation;
          const granted = { name: 'acquire', lock: 'l', answer: 'granted' } as const;
          return { ...operation, call: { ...granted, owner, token: 1_000 } };
        });
      }),
      few,
    );
  });
  it('lowered token', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const history = drawLock(seed, long);
        const places = placesOf(
          history,
          ({ call }) => call.name === 'acquire' && (call.token ?? 0) > 1,
        );
        expectCaught(history, fencedMutex(), places, (operation) => {
          const { call } = operation;
          const token = call.name === 'acquire' ? (call.token ?? 0) - 1 : 0;
          return { ...operation, call: { ...call, token } };
        });
      }),
      few,
    );
  });
  it('lowered token that a store accepted', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        let token = 1;
        const history = drawLongHistory<FencedCall>(seed, long, (_, below) => {
          if (below(4) === 0) token += 1;
          const write = { name: 'write', resource: 'db', key: 'x', value: 1 } as const;
          return { ...write, token, answer: 'accepted' };
        });
        const isBelow = (operation: Operation<FencedCall>): boolean =>
          history.some(
            (other) =>
              (other.return ?? 0) < operation.invoke && other.call.token >= operation.call.token,
          );
        const places = placesOf(history, isBelow);
        expectCaught(history, fencedRegister(), places, (operation) => {
          return { ...operation, call: { ...operation.call, token: operation.call.token - 1 } };
        });
      }),
      few,
    );
  });
});
