import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../catalogue.ts';
import type { Fault, When } from '../core/plan/fault.ts';
import type { Work } from '../core/plan/plan.ts';
import type { ServerHost } from '../core/world/calls.ts';
import type { Program } from '../core/world/program.ts';
import { LATER, type Server, type Turn } from '../core/world/server.ts';
import { defineSystem } from '../define-system.ts';
import { examine, type SeedResult } from '../harness.ts';
import { GrantRecorder } from './grant-recorder.ts';
import { askLock, enterLock } from './lease.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from './plan.fixture.ts';
import type { LockDriver, Section } from './protocol.ts';

type Ask = { readonly verb: 'take' | 'return'; readonly lock: string };
type Reply =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'denied'; readonly holder: string }
  | { readonly kind: 'released' };

/** A minimal lock, without leases and tokens. */
class Latch implements Server<Ask, Reply> {
  private readonly holders = new Map<string, string>();
  private readonly recorder = new GrantRecorder('lock');

  handle({ verb, lock }: Ask, turn: Turn<Reply>): Reply {
    const { client } = turn;
    const holder = this.holders.get(lock);
    if (verb === 'return') {
      this.holders.delete(lock);
      this.recorder.release(turn, { lock, client, isEffective: holder !== undefined });
      return { kind: 'released' };
    }
    if (holder !== undefined) {
      this.recorder.deny(turn, { lock, client, holder });
      return { kind: 'denied', holder };
    }
    this.holders.set(lock, client);
    this.recorder.grant(turn, { lock, client, token: 0, ttlUs: 0, untilUs: null });
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
      verb: 'acquire',
      id: attempt,
      server: this.server,
      request: { verb: 'take', lock },
      means: (reply) => reply,
    });
    if (answer.reply?.kind !== 'granted') return false;
    enterLock(at, answer, answer.reply);
    return true;
  }

  *release(at: Section): Program<void> {
    const { lock } = at.section;
    yield* askLock(at, {
      verb: 'release',
      server: this.server,
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

function examineLatch(work: readonly Work[], faults: readonly Fault[] = []): SeedResult {
  const more = { checksLease: false, section: { id: 1 } };
  const clients = [clientOf('alice', work, more), clientOf('bob', work, more)];
  const plan = planOf({ clients, faults, lock: 'latch', store: 'unfenced' });
  return examine(plan, ['grant-order'], catalogue);
}

describe('a user-defined lock', () => {
  test('gives one grant at a time, and accesses are recorded under their grants', () => {
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

  test('whose driver reports no token is refused by its types and at run time', () => {
    const at: Section = Object.create(null);
    const outcome = { ordinal: 1, sentUs: 0, sentWallUs: 0 };
    const why = 'enterLock: its third argument must contain the granted `token`, or null';
    // @ts-expect-error: it is required
    expect(() => enterLock(at, outcome)).toThrow(new TypeError(why));
    // @ts-expect-error: it is required
    expect(() => enterLock(at, outcome, { ttlUs: 1 })).toThrow(new TypeError(why));
  });

  test('whose driver has no `renew` stops a section that renews', () => {
    const { trace } = examineLatch([{ kind: 'renew', id: 1, ttlUs: MS }, writeOf(7, { id: 2 })]);
    expect(eventsOf(trace, 'write')).toEqual([]);
    expect(eventsOf(trace, 'release').length).toBe(2);
  });

  test('whose server has no `restart` keeps its state in a crash', () => {
    const when: When = { kind: 'after', point: 'alice/1/acquire' };
    const crash: Fault = { kind: 'crash', process: 'lock', when, restartAfterUs: MS };
    const { trace } = examineLatch([writeOf(7)], [crash]);
    expect(eventsOf(trace, 'fault').length).toBe(1);
    expect(eventsOf(trace, 'grant').length).toBe(2);
    expect(eventsOf(trace, 'deny').length).toBeGreaterThan(0);
  });

  test('whose server has no `snapshot` cannot fail over, and the error names the reason', () => {
    const when: When = { kind: 'at', atUs: MS };
    const failover: Fault = { kind: 'failover', process: 'lock', when, lagUs: MS };
    expect(() => examineLatch([writeOf(7)], [failover])).toThrow(
      'the lock latch cannot be built: it cannot fail over: no `snapshot`',
    );
  });
});

/** A lock that waits 5 ms before each grant, by a timer of its server. */
class Thinker implements Server<Ask, Reply> {
  private readonly recorder = new GrantRecorder('lock');

  handle({ verb, lock }: Ask, turn: Turn<Reply>): Reply | typeof LATER {
    const { client } = turn;
    if (verb === 'return') {
      this.recorder.release(turn, { lock, client, isEffective: true });
      return { kind: 'released' };
    }
    turn.setTimer({ label: 'thought', afterUs: 5 * MS }, ({ atUs }) => {
      this.recorder.grant(turn, { lock, client, token: 1, ttlUs: 0, untilUs: null }, atUs);
      turn.answer({ kind: 'granted', token: 1 });
    });
    return LATER;
  }
}

const thinker = defineSystem({
  locks: {
    thinker: {
      about: 'a lock that thinks, and takes no token for current',
      buildAsked(world) {
        const host = world.addServer({ name: 'lock', role: 'lock' }, new Thinker());
        return {
          driverOf: () => new LatchDriver(host),
          check: (turn, _, onChecked) => onChecked(false, turn.atUs),
        };
      },
    },
  },
});

describe('a timer of a server', () => {
  const grantedAt = (...faults: readonly Fault[]): readonly number[] => {
    const clients = [clientOf('alice', [writeOf(7)], { checksLease: false, section: { id: 1 } })];
    const plan = planOf({ clients, faults, lock: 'thinker', store: 'unfenced' });
    const { trace } = examine(plan, ['grant-order'], extend(builtIn, thinker));
    return eventsOf(trace, 'grant').map(({ atUs }) => atUs / MS);
  };
  const atMs = (ms: number): When => ({ kind: 'at', atUs: ms * MS });

  test('fires by the server’s own clock', () => {
    expect(grantedAt()).toEqual([6]);
    const twice = { stepUs: 0, ratePpm: 1_000_000 };
    expect(grantedAt({ kind: 'clock', process: 'lock', when: atMs(0), ...twice })).toEqual([3.5]);
  });

  test('fires late after a delay or a pause, and never after a crash', () => {
    const which = { kind: 'timer', timer: 'alice/1/acquire/1/thought' } as const;
    expect(grantedAt({ kind: 'late-timer', which, byUs: 7 * MS })).toEqual([13]);
    const [process, when] = ['lock', atMs(2)];
    expect(grantedAt({ kind: 'pause', process, when, forUs: 20 * MS, clocks: 'run' })).toEqual([
      22,
    ]);
    const [first] = grantedAt({ kind: 'crash', process, when, restartAfterUs: 1 * MS });
    expect(first).toBeGreaterThan(8);
  });

  test.each<readonly [string, unknown, unknown, string]>([
    [
      'label',
      { afterUs: 1 },
      () => undefined,
      'the label of a timer must be a non-empty string without `/`',
    ],
    ['word', { label: 'a/b', afterUs: 1 }, () => undefined, 'the label of a timer must be'],
    ['time', { label: 'a', afterUs: Number.NaN }, () => undefined, 'or more, not NaN'],
    ['time to come', { label: 'a', afterUs: -1 }, () => undefined, 'or more, not -1'],
    ['function', { label: 'a', afterUs: 1 }, null, 'a timer needs a function to call'],
  ])('without a valid %s ends the run', (_, timer, ring, error) => {
    const late = defineSystem({
      locks: {
        late: {
          about: 'a lock whose timer is none',
          build(world) {
            const server: Server<Ask, Reply> = {
              handle(_ask, turn) {
                Reflect.apply(turn.setTimer, turn, [timer, ring]);
                return LATER;
              },
            };
            const host = world.addServer({ name: 'lock', role: 'lock' }, server);
            return () => new LatchDriver(host);
          },
        },
      },
    });
    const plan = planOf({ clients: [clientOf('alice', [writeOf(7)])], lock: 'late' });
    const { trace } = examine(plan, ['grant-order'], extend(builtIn, late));
    expect(trace.ending).toMatchObject({ kind: 'failed', error: expect.stringContaining(error) });
  });
});

test.each([
  ['a word', ({ kind }: { kind: string }) => kind, '"released"'],
  ['null', () => null, 'null'],
  ['nothing', () => undefined, 'nothing'],
])('a reply with an unknown meaning ends the run: %s', (_, describe, message) => {
  const clients = [clientOf('alice', [writeOf(7)], { checksLease: false, section: { id: 1 } })];
  const asking = defineSystem({
    locks: {
      asking: {
        about: 'a lock whose store is told no answer',
        buildAsked(world) {
          const target = world.addServer({ name: 'lock', role: 'lock' }, new Latch());
          return {
            driverOf: () => new LatchDriver(target),
            check(turn, { lock, token }, onChecked) {
              const question = {
                label: 'check',
                call: { verb: 'check', lock, token } as const,
                target,
                request: { verb: 'return', lock } as const,
                timeoutUs: null,
                tries: 1,
              };
              // @ts-expect-error: what JavaScript may return.
              turn.ask({ ...question, describe }, () => onChecked(true, turn.atUs));
            },
          };
        },
      },
    },
  });
  const plan = planOf({ clients, lock: 'asking', store: 'check-sequencer' });
  const { trace } = examine(plan, ['grant-order'], extend(builtIn, asking));
  expect(trace.ending).toMatchObject({
    kind: 'failed',
    process: 'store',
    error: `describe() must return an object with a kind, not ${message}`,
  });
});

test('a lock that stores can ask is built once, and its store refuses outdated tokens', () => {
  const clients = [clientOf('alice', [writeOf(7)], { checksLease: false, section: { id: 1 } })];
  const plan = planOf({ clients, lock: 'thinker', store: 'check-sequencer' });
  const { trace } = examine(plan, ['grant-order'], extend(builtIn, thinker));
  expect(eventsOf(trace, 'grant')).toHaveLength(1);
  expect(eventsOf(trace, 'write').map(({ refusal }) => refusal === undefined)).toEqual([false]);
});

test.each<readonly [string, object]>([
  ['`build` did not return a function', { build: () => undefined }],
  ['`buildAsked` did not return a function `driverOf`', { buildAsked: () => undefined }],
  [
    '`buildAsked` did not return a function `driverOf`',
    { buildAsked: () => ({ check: () => {} }) },
  ],
  [
    '`buildAsked` did not return a function `check`',
    { buildAsked: () => ({ driverOf: () => {} }) },
  ],
])('a lock cannot be built if %s', (what, ways) => {
  const none = defineSystem({ locks: { hollow: { about: 'nothing', ...ways } } });
  const plan = planOf({ clients: [clientOf('alice', [writeOf(7)])], lock: 'hollow' });
  expect(() => examine(plan, ['grant-order'], extend(builtIn, none))).toThrow(
    `the lock hollow cannot be built: ${what}`,
  );
});

test('the default of an option must be within its range, which may be negative', () => {
  const lockFrom = (fallback: number): (() => unknown) => {
    const option = { name: 'wait', values: 'integer', range: [-1, 5], about: 'how long' } as const;
    const waiting = {
      about: 'it waits',
      section: async () => {},
      options: [{ ...option, fallback }],
    };
    return () => defineSystem({ locks: { waiting } });
  };
  expect(lockFrom(-1)).not.toThrow();
  expect(lockFrom(6)).toThrow('locks.waiting.options.wait.fallback is not one of its values');
});
