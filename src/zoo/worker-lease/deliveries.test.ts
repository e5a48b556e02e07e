/** Tests in simulated runs the deliveries with which the published scheme is documented. */
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan, SectionPlan } from '../../core/plan/plan.ts';
import { examine } from '../../harness.ts';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';

const SECOND = 1000 * MS;
const BACK_ENDS = ['lease-dynamodb', 'lease-memcached', 'lease-redis'];

/** One delivery: the step, its retries, and how long its worker waits before it. */
type Delivery = readonly [tick: number, retries: number, thinkUs?: number];

function worker(
  name: string,
  deliveries: readonly Delivery[],
  more: Partial<ClientPlan> = {},
): ClientPlan {
  const sections = deliveries.map(
    ([tick, retries, thinkUs = 0], at): SectionPlan => ({
      id: at + 1,
      thinkUs,
      lock: 'machine',
      work: [{ kind: 'job', id: 1, tick, retries, forUs: 100 * MS }],
    }),
  );
  const patience = { ttlUs: 5 * SECOND, lockTimeoutUs: SECOND, backoffUs: 100 * MS };
  return { ...clientOf(name, []), ...patience, sections, ...more };
}

function runOf(clients: readonly ClientPlan[], setup: Partial<PlanSetup> = {}): Trace {
  const plan = planOf({ lock: 'lease-dynamodb', healAtUs: 60 * SECOND, clients, ...setup });
  return run({ ...plan, limits: { ...plan.limits, endUs: 100 * SECOND } });
}

/** Returns the step and the fence of each grant, in order. */
function fences(trace: Trace): readonly (readonly [tick: number, fence: number])[] {
  const entered = eventsOf(trace, 'enter');
  return eventsOf(trace, 'job')
    .filter(({ phase }) => phase !== 'end')
    .map(({ tick, ordinal }) => [tick, entered.find((e) => e.ordinal === ordinal)?.token ?? 0]);
}

function logs(trace: Trace): readonly string[] {
  return eventsOf(trace, 'log').map(({ topic, text }) => `${topic}: ${text}`);
}

describe.each(BACK_ENDS)('the fences of %s', (lock) => {
  test('on the happy path are 1 to 4 for the steps 0 to 3', () => {
    const trace = runOf(
      [
        worker(
          'alice',
          [0, 1, 2, 3].map((tick) => [tick, 0]),
        ),
      ],
      { lock },
    );
    expect(fences(trace)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
  });

  test('on the retry path count every delivery: step 1 has 2, 3 and 4', () => {
    const deliveries: Delivery[] = [
      ...([0, 1] as const).map((tick): Delivery => [tick, 0]),
      ...([1, 2] as const).map((retries): Delivery => [1, retries]),
      ...([2, 3] as const).map((tick): Delivery => [tick, 0]),
    ];
    expect(fences(runOf([worker('alice', deliveries)], { lock }))).toEqual([
      [0, 1],
      [1, 2],
      [1, 3],
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
  });

  test('on the path with an out-of-order duplicate continue from 5 with 6 and 7', () => {
    const half = SECOND / 2;
    const clients = [
      worker('alice', [
        [0, 0],
        [1, 0],
        [2, 0, 3 * SECOND],
        [3, 0],
      ]),
      worker('bob', [
        [1, 1, 2 * half],
        [1, 2, half],
      ]),
      worker('carol', [[1, 2, half]]),
    ];
    const trace = runOf(clients, { lock });
    expect(fences(trace)).toEqual([
      [0, 1],
      [1, 2],
      [1, 3],
      [1, 4],
      [1, 5],
      [2, 6],
      [3, 7],
    ]);
    expect(logs(trace)).toEqual([]);
  });
});

describe('a dispatch', () => {
  const truncated: Fault = {
    kind: 'partition',
    from: ['alice'],
    to: ['lock'],
    direction: 'both',
    when: { kind: 'at', atUs: 0 },
    forUs: 10 * SECOND,
  };
  const standby = { standby: 'yes' };

  test('flips to the secondary on a system error, logs it, and counts from 1 there', () => {
    const clients = [worker('alice', [[0, 0]]), worker('bob', [[0, 0]])];
    const trace = runOf(clients, { options: standby, faults: [truncated] });
    const granted = eventsOf(trace, 'grant').map(({ process, client, token }) => [
      process,
      client,
      token,
    ]);
    // Her request to the primary arrives late, and takes a lease without a holder.
    expect(granted.slice(0, 2)).toEqual([
      ['lock', 'bob', 1],
      ['lock-standby', 'alice', 1],
    ]);
    expect(logs(trace)).toEqual(['lease: system error acquiring primary=true lease of machine']);
    expect(eventsOf(trace, 'release').map(({ process }) => process)).toEqual([
      'lock',
      'lock-standby',
    ]);
  });

  test('creates a second holder with a lower token than the primary’s: 1 after 5', () => {
    const busy = worker(
      'bob',
      [0, 1, 2, 3, 4].map((tick): Delivery => [tick, 0]),
    );
    const sections = busy.sections.map((section, at) => {
      const forUs = at < 4 ? 100 * MS : 4 * SECOND;
      return { ...section, work: [{ kind: 'job', id: 1, tick: at, retries: 0, forUs } as const] };
    });
    const clients = [worker('alice', [[4, 0, SECOND]]), { ...busy, sections }];
    const setup = { lock: 'lease-dynamodb', healAtUs: 60 * SECOND, options: standby };
    const plan = planOf({ clients, ...setup, faults: [truncated] });
    const { verdicts, trace } = examine(
      { ...plan, limits: { ...plan.limits, endUs: 100 * SECOND } },
      ['mutual-exclusion', 'tokens-increase', 'tokens-unique', 'at-most-once'],
    );
    const last = eventsOf(trace, 'grant').slice(4, 6);
    expect(last.map(({ process, token }) => [process, token])).toEqual([
      ['lock', 5],
      ['lock-standby', 1],
    ]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(Array(4).fill('invalid'));
  });

  test('without a secondary is retried later, each time as one more retry', () => {
    const clients = [worker('alice', [[7, 2]], { lockTimeoutUs: 4 * SECOND, backoffUs: SECOND })];
    const trace = runOf(clients, { faults: [truncated] });
    const asked = eventsOf(trace, 'send').flatMap(({ to, body }) => (to === 'lock' ? [body] : []));
    expect(asked).toMatchObject([
      { kind: 'acquire', steps: 7, retries: 2 },
      { kind: 'acquire', steps: 7, retries: 3 },
      { kind: 'acquire', steps: 7, retries: 4 },
      // The first request arrived late, and took a lease that the client never learned of.
      { kind: 'release', steps: 7, retries: 4, fence: 2 },
    ]);
    const failed = [
      'lease: system error acquiring primary=true lease of machine',
      'lease: could not acquire lease of machine, retrying',
    ];
    expect(logs(trace)).toEqual([...failed, ...failed]);
  });

  test('logs a release that fails', () => {
    const late = worker('alice', [[0, 0]], { ttlUs: SECOND });
    const sleeper: ClientPlan = {
      ...late,
      sections: late.sections.map((section) => ({
        ...section,
        work: [{ kind: 'job', id: 1, tick: 0, retries: 0, forUs: 4 * SECOND }],
      })),
    };
    const bob = worker('bob', [[1, 0, 3 * SECOND]]);
    expect(logs(runOf([sleeper, bob]))).toEqual([
      'lease: could not release lease of machine, fence 1',
    ]);
    const forgetful = worker('alice', [[0, 0]]);
    const faults: Fault[] = [{ ...truncated, when: { kind: 'before', point: 'alice/1/release' } }];
    expect(logs(runOf([forgetful], { faults }))).toEqual([
      'lease: could not release lease of machine, fence 1: system error',
    ]);
  });

  test('attaches its token to its writes', () => {
    const [section] = worker('alice', [[0, 0]]).sections;
    if (section === undefined) throw new Error('no section');
    const write = {
      kind: 'write',
      id: 2,
      store: 'store',
      key: 'x',
      value: 1,
      awaits: true,
    } as const;
    const sections = [1, 2].map((id) => ({ ...section, id, work: [...section.work, write] }));
    const trace = runOf([worker('alice', [], { sections })]);
    expect(eventsOf(trace, 'write').map(({ token, under }) => [token, under])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });
});

describe('idempotency', () => {
  const twice = [worker('alice', [[1, 0]]), worker('bob', [[1, 0, 2 * SECOND]])];

  function phases(options: Plan['system']['options'], faults: readonly Fault[] = []): string {
    const trace = runOf(twice, { options, faults });
    return eventsOf(trace, 'job')
      .map(({ process, phase }) => `${process} ${phase}s`)
      .join(', ');
  }

  test('none runs a step as often as it is delivered', () => {
    expect(phases({})).toBe('alice begins, alice ends, bob begins, bob ends');
  });

  test.each(['marked', 'step'])('%s skips a step that has run', (idempotency) => {
    expect(phases({ idempotency })).toBe('alice begins, alice ends, bob skips');
  });

  test('step-fence lets the next holder run it again', () => {
    expect(phases({ idempotency: 'step-fence' })).toBe(
      'alice begins, alice ends, bob begins, bob ends',
    );
  });

  const stall: Fault = {
    kind: 'pause',
    process: 'alice',
    forUs: 12 * SECOND,
    clocks: 'run',
    when: { kind: 'before', point: 'alice/1/claim' },
  };

  test('step-fence refuses a holder whose successor came first', () => {
    expect(phases({ idempotency: 'step-fence' }, [stall])).toBe(
      'bob begins, bob ends, alice skips',
    );
  });

  test('marked runs a step twice at once if the first run stalls; step never does', () => {
    const inJob: Fault = { ...stall, when: { kind: 'at', atUs: 50 * MS } };
    expect(phases({ idempotency: 'marked' }, [inJob])).toBe(
      'alice begins, bob begins, bob ends, alice ends',
    );
    expect(phases({ idempotency: 'step' }, [inJob])).toBe('alice begins, bob skips, alice ends');
  });

  test('a step whose claim gets no answer does not run', () => {
    const lost: Fault = {
      kind: 'drop',
      which: { kind: 'message', message: 'alice/1/claim/1/reply' },
    };
    expect(phases({ idempotency: 'step' }, [lost])).toBe('alice skips, bob skips');
  });
});
