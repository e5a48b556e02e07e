import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../catalogue.ts';
import type { Fault, When } from '../core/plan/fault.ts';
import type { Work } from '../core/plan/plan.ts';
import type { Program } from '../core/world/program.ts';
import type { Server, ServerHost, Turn } from '../core/world/server.ts';
import { defineSystem } from '../define-system.ts';
import { type Examination, examine } from '../harness.ts';
import { GrantBook } from './grant-book.ts';
import { askLock, enterLock } from './lease.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from './plan.fixture.ts';
import type { LockDriver, Section } from './protocol.ts';

type Ask = { readonly verb: 'take' | 'return'; readonly lock: string };
type Reply =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'denied'; readonly holder: string }
  | { readonly kind: 'released' };

/** A lock without leases and tokens, and without more than it needs. */
class Latch implements Server<Ask, Reply> {
  private readonly holders = new Map<string, string>();
  private readonly book = new GrantBook('lock');

  handle({ verb, lock }: Ask, turn: Turn<Reply>): Reply {
    const { client } = turn;
    const holder = this.holders.get(lock);
    if (verb === 'return') {
      this.holders.delete(lock);
      this.book.release(turn, { lock, client, isEffective: holder !== undefined });
      return { kind: 'released' };
    }
    if (holder !== undefined) {
      this.book.deny(turn, { lock, client, holder });
      return { kind: 'denied', holder };
    }
    this.holders.set(lock, client);
    this.book.grant(turn, { lock, client, token: 0, ttlUs: 0, untilUs: null });
    return { kind: 'granted', token: 0 };
  }
}

class LatchDriver implements LockDriver {
  private readonly server: ServerHost<Ask, Reply>;

  constructor(server: ServerHost<Ask, Reply>) {
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { lock } = at.section;
    const answer = yield* askLock(at, {
      ...({ verb: 'acquire', id: attempt, server: this.server } as const),
      request: { verb: 'take', lock },
      means: (reply) => reply,
    });
    if (answer.reply?.kind !== 'granted') return false;
    enterLock(at, answer);
    return true;
  }

  *release(at: Section): Program<void> {
    const { lock } = at.section;
    yield* askLock(at, {
      ...({ verb: 'release', server: this.server } as const),
      request: { verb: 'return', lock },
      means: (reply) => reply,
    });
  }
}

const latch = defineSystem({
  locks: {
    latch: {
      about: 'a lock without leases',
      build(world) {
        const host = world.addServer({ name: 'lock', role: 'lock' }, new Latch());
        return () => new LatchDriver(host);
      },
    },
  },
});
const catalogue: Catalogue = extend(builtIn, latch);

function examineLatch(work: readonly Work[], faults: readonly Fault[] = []): Examination {
  const more = { checksLease: false, section: { id: 1 } };
  const clients = [clientOf('alice', work, more), clientOf('bob', work, more)];
  const plan = planOf({ clients, faults, lock: 'latch', store: 'unfenced' });
  return examine(plan, ['grant-order'], catalogue);
}

describe('a lock of one’s own', () => {
  test('lends its grants one after the other, and what is done under each is known', () => {
    const { trace, verdicts } = examineLatch([writeOf(7)]);
    expect(trace.ending.kind).toBe('complete');
    const turns = trace.events.flatMap(({ kind }) =>
      kind === 'grant' || kind === 'release' || kind === 'write' ? [kind] : [],
    );
    expect(turns).toEqual(['grant', 'write', 'release', 'grant', 'write', 'release']);
    expect(eventsOf(trace, 'write').map(({ under, token }) => [under, token])).toEqual([
      [1, 0],
      [2, 0],
    ]);
    expect(verdicts[0]?.kind).toBe('valid');
  });

  test('whose driver has no `renew` stops a section that is to renew', () => {
    const { trace } = examineLatch([{ kind: 'renew', id: 1, ttlUs: MS }, writeOf(7, { id: 2 })]);
    expect(eventsOf(trace, 'write')).toEqual([]);
    expect(eventsOf(trace, 'release').length).toBe(2);
  });

  test('whose server has no `restart` keeps what it knows in a crash', () => {
    const when: When = { kind: 'after', point: 'alice/1/acquire' };
    const crash: Fault = { kind: 'crash', process: 'lock', when, restartAfterUs: MS };
    const { trace } = examineLatch([writeOf(7)], [crash]);
    expect(eventsOf(trace, 'fault').length).toBe(1);
    expect(eventsOf(trace, 'grant').length).toBe(2);
    expect(eventsOf(trace, 'deny').length).toBeGreaterThan(0);
  });

  test('whose server has no `snapshot` cannot fail over, and says so', () => {
    const when: When = { kind: 'at', atUs: MS };
    const failover: Fault = { kind: 'failover', process: 'lock', when, lagUs: MS };
    expect(() => examineLatch([writeOf(7)], [failover])).toThrow(
      'the lock latch cannot be built: it cannot fail over: no `snapshot`',
    );
  });
});
