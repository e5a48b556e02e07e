import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../check/verdict.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { Plan, QueuePlan, Work } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { clientOf, planOf, writeOf } from '../../systems/plan.fixture.ts';
import { idOf, isSameKind, shapeOf, signatureOf } from './signature.ts';

const folder = fileURLToPath(new URL('../../../fixtures/plans/', import.meta.url));

function keptPlan(name: string): Plan {
  const read = readPlan({ file: name, text: readFileSync(`${folder}${name}`, 'utf8') });
  if (read.kind === 'problems') throw new Error(`${name} does not load`);
  return read.plan;
}

const pause: Fault = {
  kind: 'pause',
  process: 'bob',
  when: { kind: 'before', point: 'bob/3/write-2' },
  forUs: 20_000,
  clocks: 'run',
};

const zombie: Plan = planOf({
  store: 'unfenced',
  clients: [
    clientOf('bob', [writeOf(1, { id: 2 })], { section: { id: 3 } }),
    clientOf('carol', [writeOf(2)]),
  ],
  faults: [pause],
});

const SHAPE =
  'lock-service/unfenced; A (releases): write; B (releases): write; pause A before A/1/write';

function invalid(roles: readonly string[]): Verdict {
  const evidence = roles.map((role, event) => ({ role, event }));
  return { kind: 'invalid', claim: 'grant-order', exercised: 1, rule: 'r', evidence };
}

describe('the shape of a plan', () => {
  test('is a readable text', () => {
    expect(shapeOf(zombie)).toBe(SHAPE);
  });

  test('does not depend on names, times, values, seeds or the order of clients', () => {
    const other = planOf({
      store: 'unfenced',
      clients: [
        clientOf('adam', [writeOf(7)], { ttlUs: 99_000, attempts: 3 }),
        clientOf('zoe', [writeOf(9, { key: 'y' })], { section: { id: 8, thinkUs: 5, lock: 'l' } }),
      ].map((client) => ({
        ...client,
        sections: client.sections.map((section) => ({
          ...section,
          lock: 'only',
          work: section.work.map((step) => ('key' in step ? { ...step, key: 'k' } : step)),
        })),
      })),
      faults: [
        {
          ...pause,
          process: 'zoe',
          when: { kind: 'before', point: 'zoe/8/write' },
          forUs: 1,
        },
      ],
      decisions: { 'zoe/8/write/1/request': 77 },
    });
    expect(shapeOf(other)).toBe(SHAPE);
  });

  test('does not depend on which of five identical clients a fault affects', () => {
    const names = ['alice', 'bob', 'carol', 'dave', 'erin'];
    const clients = names.map((name) => clientOf(name, [writeOf(1)]));
    const shapes = names.map((process) => {
      const when = { kind: 'before', point: `${process}/1/write` } as const;
      return shapeOf(planOf({ clients, faults: [{ ...pause, process, when }] }));
    });
    expect(new Set(shapes).size).toBe(1);
  });

  test.each<[string, Partial<Plan>]>([
    ['system', { system: { ...zombie.system, store: 'fenced' } }],
    ['option', { system: { ...zombie.system, options: { counter: 'volatile' } } }],
    ['network', { network: { link: 'datagram', latencyUs: 1_000 } }],
    ['kind of fault', { faults: [{ kind: 'drop', which: messageOf('bob/3/write-2/1/request') }] }],
    ['place of a fault', { faults: [{ ...pause, when: { kind: 'at', atUs: 5 } }] }],
    [
      'side of a point',
      { faults: [{ ...pause, when: { kind: 'after', point: 'bob/3/write-2' } }] },
    ],
    ['clocks of a pause', { faults: [{ ...pause, clocks: 'freeze' }] }],
    ['number of faults', { faults: [pause, pause] }],
    ['number of clients', { clients: zombie.clients.slice(0, 1) }],
    [
      'client with a lease check',
      { clients: zombie.clients.map((client) => ({ ...client, checksLease: false })) },
    ],
    ['key', { clients: [clientOf('bob', [writeOf(1)]), keyed('carol', 'y')] }],
    ['remaining chance', { chance: chanceOf(zombie) }],
  ])('differs if two plans differ in their %s', (_, difference) => {
    expect(shapeOf({ ...zombie, ...difference })).not.toBe(SHAPE);
  });

  describe('with a queue', () => {
    const transition = [{ kind: 'transition', id: 1, forUs: 9 } as const];
    const clients = ['m', 'n'].map((lock) => clientOf(lock, transition, { section: { lock } }));
    const step = { machine: 'm', steps: 1, retries: 0 };
    const shapeWith = (change: Partial<QueuePlan>): string => {
      const none = { steps: 3, retries: 2, visibilityUs: 10, messages: [], copies: [] };
      return shapeOf({ ...zombie, clients, faults: [], queue: { ...none, ...change } });
    };
    const plain = shapeWith({ messages: [{ ...step, atUs: 0 }] });

    test('has one phrase per message and per copy', () => {
      const other = { machine: 'n', steps: 0, retries: 2 };
      const queue = {
        messages: [
          { ...other, atUs: 5 },
          { ...step, atUs: 0 },
        ],
        copies: [{ ...other, afterUs: 7 }],
      };
      expect(plain).toMatch(/transition; message 1$/);
      expect(shapeWith(queue)).toMatch(
        /; message 0 retry 2 in lock 2; message 1; copy 0 retry 2 in lock 2$/,
      );
    });

    test.each<[string, Partial<QueuePlan>]>([
      ['another message', { messages: [0, 0].map((atUs) => ({ ...step, atUs })) }],
      ['another step', { messages: [{ ...step, steps: 2, atUs: 0 }] }],
      ['a retry', { messages: [{ ...step, retries: 1, atUs: 0 }] }],
      ['a copy', { messages: [{ ...step, atUs: 0 }], copies: [{ ...step, afterUs: 0 }] }],
      [
        'another machine',
        { messages: ['m', 'n'].map((machine) => ({ ...step, machine, atUs: 0 })) },
      ],
    ])('differs with %s', (_, change) => {
      expect(shapeWith(change)).not.toBe(plain);
    });

    test('does not depend on times, names or the order of messages', () => {
      const messages = [0, 2].map((steps) => ({ ...step, steps, atUs: steps }));
      const turned = messages.map((one) => ({ ...one, machine: 'n', atUs: 70 })).reverse();
      const rest = { steps: 9, visibilityUs: 77 };
      expect(shapeWith({ messages: turned, ...rest })).toBe(shapeWith({ messages }));
    });
  });

  test('distinguishes one server from two, but not which server it is', () => {
    const crash = (process: string): Fault => ({
      kind: 'crash',
      process,
      when: { kind: 'at', atUs: 1 },
      restartAfterUs: 1,
    });
    const crashes = (...servers: string[]): string =>
      shapeOf({ ...zombie, faults: servers.map(crash) });
    expect(crashes('lock-2', 'lock-1')).toBe(crashes('lock-1', 'lock-3'));
    expect(crashes('lock-2', 'lock-2')).not.toBe(crashes('lock-1', 'lock-2'));
  });

  test('does not depend on the order of faults', () => {
    const drop: Fault = { kind: 'drop', which: messageOf('carol/1/write/1/request') };
    const faults = [pause, drop];
    expect(shapeOf({ ...zombie, faults })).toBe(
      shapeOf({ ...zombie, faults: [...faults].reverse() }),
    );
  });

  test('does not depend on the order of more than five clients', () => {
    const clients = Array.from({ length: 7 }, (_, at) =>
      clientOf(`c${at}`, at === 3 ? [] : [writeOf(at)]),
    );
    expect(shapeOf({ ...zombie, clients, faults: [] })).toBe(
      shapeOf({ ...zombie, clients: [...clients].reverse(), faults: [] }),
    );
  });

  test.each([
    ['a/timeout-30ms-2', 'A/timeout'],
    ['a/timeout-31ms', 'A/timeout'],
    ['a/life-2/timeout-30ms-4', 'A/timeout'],
    ['a/interval-5ms/7', 'A/interval'],
    ['a/life-3/interval-5ms-2', 'A/interval'],
    ['a/immediate', 'A/immediate'],
    ['a/immediate-12', 'A/immediate'],
    ['a/life-2/immediate-2', 'A/immediate'],
    ['a/life-2/start/job', 'A/life-2/start/job'],
    ['a/timeout-soon', 'A/timeout-soon'],
  ])('names the timer %s of a program %s, regardless of its time and number', (timer, name) => {
    const late: Fault = { kind: 'late-timer', which: { kind: 'timer', timer }, byUs: 5 };
    const plan = planOf({ clients: [clientOf('a', [])], faults: [late] });
    expect(shapeOf(plan)).toMatch(new RegExp(`; late timer ${name}$`));
  });

  test('differs between all kept plans of one scenario', () => {
    const files = readdirSync(folder);
    const kinds = files.map((file) => {
      const plan = keptPlan(file);
      return JSON.stringify([plan.scenario, plan.system.name, plan.expect?.claim, shapeOf(plan)]);
    });
    expect(kinds.length).toBeGreaterThan(100);
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});

describe('a fault is described by its target and place, in names of the shape', () => {
  const read: Work = { kind: 'read', id: 1, store: 'store', key: 'x' };
  const [second, third, fourth] = [
    writeOf(1, { id: 5, key: 'y' }),
    writeOf(2),
    writeOf(3, { id: 2, store: 'other' }),
  ];
  const a = clientOf('zoe', []);
  const clients = [
    {
      ...a,
      sections: [
        { id: 3, thinkUs: 0, lock: 'db', work: [read, second] },
        { id: 4, thinkUs: 0, lock: 'db', work: [third] },
      ],
    },
    clientOf('adam', [fourth], { section: { id: 9, lock: 'second' } }),
  ];
  const at = { kind: 'at', atUs: 5 } as const;
  const of = (kind: 'before' | 'after', point: string, process = 'zoe'): Fault => {
    return { ...pause, process, when: { kind, point } };
  };
  const link = { kind: 'link', from: 'adam', to: 'other', atUs: 3 } as const;
  const late = { kind: 'late-timer', byUs: 1 } as const;
  const sides = { from: ['zoe', 'adam'], to: ['store', 'lock'] } as const;
  const partition = { kind: 'partition', ...sides, when: at, forUs: 1 } as const;
  const forgets = (key: string, process = 'other'): Fault => {
    return { kind: 'evict', process, key, when: at };
  };
  const head =
    'lock-service/fenced; A (releases): read, write key 2 | write; ' +
    'B (releases): in lock 2: write store 2';

  test.each<[string, Fault]>([
    ['pause A before A/1/write-2', of('before', 'zoe/3/write-5')],
    ['pause A after A/1/read', of('after', 'zoe/3/read')],
    ['pause A before A/2/write', of('before', 'zoe/4/write')],
    ['pause A before A/1/acquire-2', of('before', 'zoe/3/acquire-2')],
    ['pause A before A/7/write', of('before', 'zoe/7/write')],
    ['pause A before B/1/write', of('before', 'adam/9/write-2')],
    ['pause store 2 after A/1/read', of('after', 'zoe/3/read', 'other')],
    ['pause A', { ...pause, process: 'zoe', when: at }],
    ['pause A with frozen clocks', { ...pause, process: 'zoe', when: at, clocks: 'freeze' }],
    ['partition A+B and lock+store 1', { ...partition, direction: 'both' }],
    ['partition A+B to lock+store 1', { ...partition, direction: 'one-way' }],
    ['reset A to store 1', { kind: 'reset', from: 'zoe', to: 'store', when: at }],
    ['late timer of B', { ...late, which: { kind: 'process', process: 'adam', atUs: 1 } }],
    ['late timer A/timeout', { ...late, which: { kind: 'timer', timer: 'zoe/timeout-3ms' } }],
    ['drop B to store 2', { kind: 'drop', which: link }],
    ['delay B to store 2', { kind: 'delay', which: link, byUs: 9 }],
    ['drop A/1/write-2/1/reply', { kind: 'drop', which: messageOf('zoe/3/write-5/1/reply') }],
    [
      'drop A/1/acquire/1/lock 1/reply',
      { kind: 'drop', which: messageOf('zoe/3/acquire/1/lock-7/reply') },
    ],
    [
      'drop A/1/acquire/1/lock 1/reply',
      { kind: 'drop', which: messageOf('zoe/3/acquire/1/lock-12/reply') },
    ],
    ['store 2 forgets key 2', forgets('y')],
    ['lock 1 forgets lock 2', forgets('second', 'lock-7')],
    ['lock forgets other', forgets('other', 'lock')],
  ])('%s', (clause, fault) => {
    const shape = shapeOf(planOf({ clients, faults: [fault] }));
    expect(shape).toBe(`${head}; ${clause}`);
    const turned = planOf({ clients: [...clients].reverse(), faults: [fault] });
    expect(shapeOf(turned)).toBe(shape);
  });
});

test('the names of two stores do not change which one is affected first', () => {
  const shapes = [
    ['y', 'b'],
    ['b', 'y'],
  ].map(([one = '', other = '']) => {
    const work = [writeOf(1, { store: one }), writeOf(1, { id: 2, store: other })];
    const faults = [one, other].map((process): Fault => {
      return { ...pause, process, when: { kind: 'at', atUs: 1 } };
    });
    return shapeOf(planOf({ clients: [clientOf('a', work)], faults }));
  });
  expect(shapes[0]).toMatch(/; pause store 1; pause store 2$/);
  expect(shapes[1]).toBe(shapes[0]);
});

test('options are listed in alphabetical order', () => {
  const options = [
    ['renew', 'twice'],
    ['clock', 'wall'],
    ['counter', 'volatile'],
  ];
  for (const some of [options, [...options].reverse()]) {
    expect(shapeOf(planOf({ clients: [], options: Object.fromEntries(some) }))).toBe(
      'lock-service/fenced clock="wall" counter="volatile" renew="twice"',
    );
  }
});

test('remaining chance is named, or `order` if only ties are random', () => {
  const all = { latency: null, drop: null, delay: null, duplicate: null, lateTimer: null };
  const chance = { seed: 1, latencyStepUs: 1, jitter: null, ...all };
  const shapeWith = (more: object): string =>
    shapeOf({ ...planOf({ clients: [] }), chance: { ...chance, ...more } });
  expect(shapeWith({})).toBe('lock-service/fenced; chance: order');
  const [odds, range] = [
    { numerator: 1, denominator: 2 },
    { minUs: 0, maxUs: 1 },
  ];
  expect(shapeWith({ latency: range, drop: odds, jitter: odds })).toBe(
    'lock-service/fenced; chance: latency, drop, jitter',
  );
  const lengthy = { ...odds, ...range };
  expect(shapeWith({ delay: lengthy, duplicate: lengthy, lateTimer: lengthy })).toBe(
    'lock-service/fenced; chance: delay, duplicate, lateTimer',
  );
});

describe('more than five clients are ordered', () => {
  const named = (names: string, one: number, work: readonly Work[], releases = true): string =>
    shapeOf(
      planOf({
        clients: [...names].map((name, at) =>
          clientOf(name, at === one ? work : [writeOf(1)], { releases: at !== one || releases }),
        ),
      }),
    );

  test('by their work, regardless of their names', () => {
    const shapes = [0, 3, 5].map((one) => named('bcdefg', one, []));
    expect(new Set(shapes).size).toBe(1);
    expect(shapes[0]).toMatch(/; E \(releases\): write; F \(releases\): lock only$/);
  });

  test('first by the traits that a reader must know', () => {
    const shapes = [0, 3, 5].map((one) => named('bcdefg', one, [writeOf(1)], false));
    expect(new Set(shapes).size).toBe(1);
  });

  test('and named by letters, then by numbers after Z', () => {
    const names = Array.from({ length: 28 }, (_, at) => `c${at + 10}`);
    const clients = names.map((name) => clientOf(name, [], { releases: false }));
    const heads = shapeOf(planOf({ clients })).split('; ').slice(1);
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'A26', 'A27'];
    expect(heads).toEqual(letters.map((letter) => `${letter}: lock only`));
  });
});

describe('two plans of one shape are the same kind of failure', () => {
  const broken = signatureOf(zombie, invalid(['earlier grant', 'stale write']));

  test('if their evidence has the same roles', () => {
    expect(isSameKind(broken, signatureOf(zombie, invalid(['earlier grant', 'stale write'])))).toBe(
      true,
    );
    const other = signatureOf(zombie, invalid(['earlier grant', 'lost write']));
    expect(isSameKind(broken, other)).toBe(false);
    expect(idOf(broken)).toMatch(/^[0-9a-f]{8}$/);
    expect(idOf(other)).not.toBe(idOf(broken));
  });

  test('but not if only one of them breaks the claim', () => {
    const guard = signatureOf(zombie, { kind: 'valid', claim: 'grant-order', exercised: 1 });
    expect(isSameKind(broken, guard)).toBe(false);
    expect(isSameKind(guard, guard)).toBe(true);
  });
});

function messageOf(message: string): { kind: 'message'; message: string } {
  return { kind: 'message', message };
}

function keyed(name: string, key: string): Plan['clients'][number] {
  return clientOf(name, [writeOf(2, { key })]);
}

function chanceOf(plan: Plan): Plan['chance'] {
  const none = { delay: null, duplicate: null, lateTimer: null, jitter: null };
  return {
    seed: 1,
    latency: plan.bounds.latency,
    latencyStepUs: 1,
    ...none,
    drop: { numerator: 1, denominator: 2 },
  };
}

describe('the shape describes the work of a section', () => {
  const store = { store: 'store', key: 'x' };
  const memoize = { kind: 'memoize', id: 1, ...store, value: 1, forUs: 1, pieces: 1 } as const;
  const job = { kind: 'job', id: 1, tick: 3, forUs: 1, retries: 0 } as const;
  const increment = { kind: 'increment', id: 1, ...store } as const;
  const transfer = { kind: 'transfer', id: 1, from: 'a', to: 'b', key: 'x', amount: 1 } as const;
  test.each<[string, readonly Work[]]>([
    ['lock only', []],
    ['write', [writeOf(1)]],
    ['write unawaited', [writeOf(1, { awaits: false })]],
    ['write, write key 2', [writeOf(1), writeOf(1, { id: 2, key: 'y' })]],
    ['write, write store 2', [writeOf(1), writeOf(1, { id: 2, store: 'other' })]],
    ['read', [{ kind: 'read', id: 1, ...store }]],
    ['increment', [increment]],
    ['increment', [{ ...increment, by: 2 }]],
    ['decrement', [{ ...increment, by: -1 }]],
    ['memoize', [memoize]],
    ['memoize in pieces', [{ ...memoize, pieces: 2 }]],
    ['memoize or not at all', [{ ...memoize, withoutLock: 'gives-up' }]],
    ['transfer to store 2', [transfer]],
    ['lock 2', [{ kind: 'lock', id: 1, lock: 'other' }]],
    ['job 1', [job]],
    ['job 1 again', [{ ...job, retries: 2 }]],
    ['job 1, job 2', [job, { ...job, id: 2, tick: 9 }]],
    ['compute', [{ kind: 'compute', id: 1, forUs: 5 }]],
  ])('%s', (words, work) => {
    const clients = [clientOf('a', work, { releases: false })];
    expect(shapeOf(planOf({ clients }))).toBe(`lock-service/fenced; A: ${words}`);
  });
});

test.each([
  [5, 0, ' steps forwards'],
  [-5, 0, ' steps back'],
  [0, 5, ' runs fast'],
  [0, -5, ' runs slow'],
  [5, -5, ' steps forwards runs slow'],
])('a clock fault of %i µs and %i ppm reads: %s', (stepUs, ratePpm, words) => {
  const clock = { kind: 'clock', process: 'a', stepUs, ratePpm } as const;
  const faults = [{ ...clock, when: { kind: 'at', atUs: 1 } } as const];
  const shape = shapeOf(planOf({ clients: [clientOf('a', [])], faults }));
  expect(shape.slice(shape.lastIndexOf('A') + 1)).toBe(words);
});

test.each<[string, Partial<Plan['clients'][number]>]>([
  ['', {}],
  [' (tests no lease)', { checksLease: false }],
  [' (counts from reply)', { countsLeaseFrom: 'reply' }],
  [' (lease ends after)', { leaseEnds: 'after' }],
  [' (pool)', { pool: 2 }],
  [' (tries again)', { tries: 2 }],
  [' (releases)', { releases: true }],
  [' (tests no lease, releases)', { checksLease: false, releases: true }],
])('the traits that a reader must know follow the letter of a client: %j', (traits, more) => {
  const clients = [clientOf('a', [], { releases: false, ...more })];
  expect(shapeOf(planOf({ clients }))).toBe(`lock-service/fenced; A${traits}: lock only`);
  const idle = clients.map((client) => ({ ...client, sections: [] }));
  expect(shapeOf(planOf({ clients: idle }))).toBe(`lock-service/fenced; A${traits}: nothing`);
});

test('a crash without a restart differs from one with a restart', () => {
  const crash = { kind: 'crash', process: 'b', when: { kind: 'at', atUs: 1 } } as const;
  const clients = ['a', 'b'].map((name) => clientOf(name, name === 'a' ? [writeOf(1)] : []));
  const shapes = [null, 5].map((restartAfterUs) =>
    shapeOf(planOf({ clients, faults: [{ ...crash, restartAfterUs }] })).replace(/.*; /, ''),
  );
  expect(shapes).toEqual(['crash A for good', 'crash A']);
});
