import { describe, expect, test } from 'vitest';
import { FAULT_KINDS, fieldsOfKind } from '../core/plan/fault.ts';
import { renderProblem } from '../text/problem.ts';
import { expand } from './expand.ts';
import { readScenario, type ScenarioRead } from './read-scenario.ts';
import type { LockWord, Vocabulary } from './vocabulary.ts';

const lock: LockWord = {
  options: [
    { name: 'counter', values: ['durable', 'volatile'] },
    { name: 'firstToken', values: null },
  ],
  servers: () => ['lock'],
};

const vocabulary: Vocabulary = {
  locks: new Map([
    ['lock-service', lock],
    ['lock-service-published', lock],
    ['quorum', { options: [], servers: () => ['lock-1', 'lock-2'] }],
    ['own', { options: [], servers: () => ['lock'], operations: [], isAsync: true }],
    [
      'own-quorum',
      { options: [], servers: () => ['lock-1', 'lock-2'], operations: ['set'], isAsync: true },
    ],
  ]),
  stores: ['unfenced', 'fenced', 'fenced-open'],
  claims: ['grant-order', 'fence-monotone', 'linearizable(fenced-register)'],
};

/** Two systems with asynchronous clients, and one without. */
const LISTENING = `  one: { lock: own, store: unfenced }
  several: { lock: own-quorum, store: unfenced }
  other: { lock: lock-service, store: unfenced }
`;

const read = (text: string, file = 'z.yaml'): ScenarioRead =>
  readScenario({ text, file, vocabulary });

function problemsOf(text: string): readonly string[] {
  const found = read(text);
  return found.kind === 'problems' ? found.problems.map(renderProblem) : [];
}

function warningsOf(text: string): readonly string[] {
  const found = read(text);
  return found.kind === 'scenario' ? found.warnings.map(renderProblem) : problemsOf(text);
}

const zombie = `name: zombie
systems:
  one:
    lock: lock-service
    store: unfenced
    options: { counter: volatile, firstToken: 31 }
    expect: { holds: [fence-monotone], breaks: [grant-order] }
clients: { count: 2, sections: 2 }
workload: { keys: [x, y] }
network: { latency: 1ms }
faults:
  - pause: { before: write, for: 1ms..20ms, chance: 1/2 }
  - delay: { by: 1ms, chance: 5% }
`;

/** The scenario with one more fault. */
const withFault = (fault: string): string => `${zombie}  - ${fault}\n`;

test.each(FAULT_KINDS)('a missing field of a %s is reported as missing', (kind) => {
  const said = problemsOf(withFault(`${kind}: {}`)).join('\n');
  expect(said).not.toContain('nothing');
  for (const field of fieldsOfKind(kind).filter(({ type }) => type === 'group')) {
    expect(said).toContain(`${kind}.${field.inFiles}: is missing; expected text or a list`);
  }
});

describe('errors in different parts of a file', () => {
  const mistaken = zombie.replace('breaks: [grant-order]', 'breaks: [grant-ordr]');

  test('are all reported at once, each with its position', () => {
    const faults = '  - pause: { procss: alice, for: 1ms }\n  - reset: { from: zed, to: stores }\n';
    expect(problemsOf(`${mistaken}${faults}`)).toEqual([
      'z.yaml:7:49 systems.one.expect.breaks[0]: unknown claim "grant-ordr"; did you mean "grant-order"?',
      'z.yaml:14:14 faults[2].pause.procss: unknown field "procss"; did you mean "process"?',
      'z.yaml:15:20 faults[3].reset.from: unknown process "zed"; known: clients, stores, locks, lock, store, alice, bob',
    ]);
    expect(problemsOf(`${mistaken}  - all\n`).map((one) => one.slice(0, 12))).toEqual([
      'z.yaml:7:49 ',
      'z.yaml:14:5 ',
    ]);
  });

  test('are reported unless one causes the other', () => {
    const clients = mistaken.replace('clients:', 'cleints:');
    expect(problemsOf(`${clients}  - pause: { process: carol, for: 1ms }\n`)).toEqual([
      'z.yaml:7:49 systems.one.expect.breaks[0]: unknown claim "grant-ordr"; did you mean "grant-order"?',
      'z.yaml:8:1 cleints: unknown field "cleints"; did you mean "clients"?',
    ]);
  });
});

describe('concurrent sections', () => {
  const scenarioText = (clients: string, lock = 'own'): string =>
    `name: a\nsystems:\n  one: { lock: ${lock}, store: unfenced }\nclients: ${clients}\n`;

  test.each<[clients: string, sections: readonly number[], concurrency: readonly number[]]>([
    ['{ count: 2, concurrency: 4 }', [4, 4], [4, 4]],
    ['{ count: 2, concurrency: 2 }', [3, 3], [2, 2]],
    [
      '{ names: [a, b], sections: 5, concurrency: 2, each: { b: { concurrency: 1 } } }',
      [5, 5],
      [2, 1],
    ],
  ])('of %s are as many as given, with enough sections to run', (clients, sections, several) => {
    const found = read(scenarioText(clients));
    if (found.kind !== 'scenario') expect.fail(problemsOf(scenarioText(clients)).join());
    expect(found.scenario.clients.map((client) => client.sections)).toEqual(sections);
    expect(found.scenario.clients.map(({ concurrency }) => concurrency)).toEqual(several);
    const plan = expand(found.scenario, 'one', 0);
    expect(plan.clients.map((client) => client.concurrency)).toEqual(
      several.map((count) => (count === 1 ? undefined : count)),
    );
  });

  test('are refused if there are too few, or if the lock cannot run them', () => {
    expect(problemsOf(scenarioText('{ sections: 2, concurrency: 3 }'))).toEqual([
      'z.yaml:4:1 clients: alice cannot run 3 sections at once: it has 2',
      'z.yaml:4:1 clients: bob cannot run 3 sections at once: it has 2',
    ]);
    expect(problemsOf(scenarioText('{ concurrency: 3 }', 'lock-service'))).toEqual([
      'z.yaml:3:16 systems.one.lock: lock-service runs one section at a time; asynchronous code can run several',
    ]);
    expect(problemsOf(scenarioText('{ concurrency: 0 }'))[0]).toContain(
      'z.yaml:4:25 clients.concurrency',
    );
  });
});

describe('a scenario', () => {
  test('has a value for everything that its file leaves out', () => {
    const found = read('name: a\nsystems: { s: { lock: lock-service, store: fenced } }\n');
    expect(found).toMatchSnapshot();
  });

  test('accepts every kind of fault by chance, at a time, and at a named point', () => {
    const faults = [
      'pause: { process: [alice, lock], at: 0ms..10ms, for: 5ms, clocks: freeze, chance: 20% }',
      'pause: { process: alice, before: alice/1/write, for: 5ms }',
      'crash: { process: stores, after: write, restart: 1ms..3ms, chance: 1/4 }',
      'crash: { process: lock, at: 5ms, restart: never }',
      'partition: { from: clients, to: lock, direction: one-way, for: 5ms..9ms, chance: 1/4 }',
      'partition: { from: [alice, bob], to: [lock, store], at: 1ms, for: 5ms }',
      'partition: { from: alice, to: lock, before: alice/2/renew, for: 5ms }',
      'clock: { process: lock, at: 1ms, step: 20ms }',
      'clock: { process: clients, step: -5ms..5ms, rate: -200ppm..200ppm, chance: 1/2 }',
      'evict: { process: lock, key: db, at: 5ms }',
      'failover: { process: store, after: bob/1/write, lag: 1ms..5ms }',
      'reset: { from: clients, to: stores, before: write, chance: 1/2 }',
      'delay: { message: write, leg: reply, by: 1ms..9ms, chance: 1/2 }',
      'delay: { message: alice/1/write/1/request, by: 14ms }',
      'delay: { from: alice, to: lock, at: 3ms, by: 14ms }',
      'drop: { chance: 1/50 }',
      'drop: { message: bob/1/acquire/1/reply }',
      'late-timer: { by: 1ms, chance: 1/50 }',
      'late-timer: { timer: alice/1/backoff, by: 1ms }',
      'late-timer: { process: alice, at: 3ms, by: 1ms }',
    ];
    for (const fault of faults) expect([fault, ...problemsOf(withFault(fault))]).toEqual([fault]);
    const datagrams = zombie.replace('latency', 'link: datagram, latency');
    expect(problemsOf(`${datagrams}  - duplicate: { by: 1ms, chance: 1/9 }\n`)).toEqual([]);
  });

  test('gives the clients by names, by count, or individually', () => {
    const namesOf = (clients: string): readonly string[] => {
      const found = read(zombie.replace('{ count: 2, sections: 2 }', clients));
      if (found.kind === 'problems') return found.problems.map(renderProblem);
      return found.scenario.clients.map((client) => `${client.name} ${client.settings.ttlUs}`);
    };
    expect(namesOf('3')).toEqual(['alice 10000', 'bob 10000', 'carol 10000']);
    expect(namesOf('[ann, ben]')).toEqual(['ann 10000', 'ben 10000']);
    expect(namesOf('{ ttl: 5ms, each: { bob: { ttl: 1s } } }')).toEqual(['bob 1000000']);
    expect(namesOf('{ count: 2, each: { bob: { ttl: 1s } } }')).toEqual([
      'alice 10000',
      'bob 1000000',
    ]);
  });
});

describe('an error is reported with its position and a suggestion', () => {
  const replaced: readonly (readonly [string, string, string, string])[] = [
    ['a fault', 'pause:', 'pausee:', 'z.yaml:12:5 faults[0].pausee: unknown fault "pausee"; did'],
    ['a field', 'before: write', 'befor: write', 'unknown field "befor"; did you mean "before"?'],
    [
      'a top field',
      'workload:',
      'workloads:',
      'unknown field "workloads"; did you mean "workload"',
    ],
    [
      'a lock',
      'lock: lock-service',
      'lock: lock-servic',
      'unknown lock "lock-servic"; did you mean',
    ],
    ['a store', 'store: unfenced', 'store: unfence', 'unknown store "unfence"; did you mean'],
    ['a claim', '[grant-order]', '[grant-odrer]', 'unknown claim "grant-odrer"; did you mean'],
    [
      'an option',
      'counter:',
      'countr:',
      'lock-service has no option "countr"; did you mean "counter"?',
    ],
    [
      'an option’s value',
      'volatile',
      'volatil',
      'unknown value "volatil"; did you mean "volatile"?',
    ],
    ['an option’s number', 'Token: 31', 'Token: -1', 'expected a whole number from 0, not -1'],
    ['a point', 'before: write', 'before: wriet', 'unknown point "wriet"; did you mean "write"?'],
    ['a point’s client', 'before: write', 'before: alic/1/write', 'did you mean "alice"?'],
    ['a point’s section', 'before: write', 'before: bob/3/write', 'bob has sections 1 to 2'],
    ['a unit', 'for: 1ms..20ms', 'for: 1..20', 'expected a duration or a range in order'],
    ['a range', '1ms..20ms', '20ms..1ms', 'range in order, such as 1ms..5ms, not "20ms..1ms"'],
    ['odds', '1/2', '3/2', 'expected odds such as 1/20 or 5%, at most 1, not "3/2"'],
    ['odds as decimals', '1/2', '0.5', 'expected odds such as 1/20 or 5%, at most 1, not 0.5'],
    ['a count', 'count: 2', 'count: 1001', 'clients.count: must be at most 1000'],
    ['sections', 'sections: 2', 'sections: 10001', 'must be at most 10000'],
    ['a fraction', 'count: 2', 'count: 2.5', 'expected a whole number, not 2.5'],
    ['an infinity', 'count: 2', 'count: .inf', 'expected a number, not Infinity'],
    ['a client’s name', 'count: 2', 'names: [a/b]', 'none of them "/"'],
    ['a name with a blank', 'count: 2', 'names: ["a b"]', 'none of them "/" or blank'],
    ['an unseen letter', 'count: 2', 'names: ["a\\u200bb"]', 'none of them "/" or blank'],
    ['a name of digits', 'count: 2', 'names: ["12"]', 'a name must not be a number'],
    ['a long name', 'count: 2', `names: [${'a'.repeat(101)}]`, 'a name has 1 to 100 characters'],
    ['two equal names', 'count: 2', 'names: [ann, ann]', 'there is another client "ann"'],
    ['a taken name', 'count: 2', 'names: [probe, ann]', 'the name "probe" is taken'],
    [
      'a store’s name',
      'count: 2',
      'names: [store, ann]',
      'the name "store" is taken by another process or group',
    ],
    [
      'count and names',
      'count: 2',
      'count: 2, names: [a]',
      'count and names are mutually exclusive',
    ],
    ['an unknown client', 'count: 2', 'count: 2, each: {bbo: {}}', 'unknown client "bbo"'],
    ['a store named lock', 'keys: [x, y]', 'stores: [lock]', 'a store cannot be named "lock"'],
    ['a key twice', 'keys: [x, y]', 'keys: [x, x]', 'workload.keys[1]: "x" is listed twice'],
    ['one store', 'keys: [x, y]', 'kind: transfer, stores: 1', 'needs exactly two stores'],
    [
      'a transfer from a store to itself',
      'keys: [x, y]',
      'steps: [transfer: { from: a, to: a }]',
      'workload.steps[0].transfer.to: a transfer needs two stores: this one leads from "a" to itself',
    ],
    [
      'a transfer from the default store to itself',
      'keys: [x, y]',
      'stores: [a, b], steps: [transfer: { from: b }]',
      'workload.steps[0].transfer: a transfer needs two stores: this one leads from "b" to itself',
    ],
    ['kind and steps', 'keys: [x, y]', 'kind: transfer, steps: [read]', 'are mutually exclusive'],
    [
      'an unknown step',
      'keys: [x, y]',
      'steps: [raed]',
      'unknown step "raed"; did you mean "read"?',
    ],
    [
      'a step without its map',
      'keys: [x, y]',
      'steps: [memoize]',
      'workload.steps[0]: memoize needs a value; write memoize: { for: 10ms }',
    ],
    ['tick 0', 'keys: [x, y]', 'steps: [job: {tick: 0, for: 1ms}]', 'tick: must be at least 1'],
    [
      'an unknown kind',
      'keys: [x, y]',
      'kind: transfr',
      'workload.kind: unknown value "transfr"; did you mean "transfer"?',
    ],
    [
      'a kind that is not a word',
      'keys: [x, y]',
      'kind: 5',
      'workload.kind: expected one of blind-writes, read-modify-write, transfer, not 5',
    ],
    [
      'a memoize with other steps',
      'keys: [x, y]',
      'steps: [read, memoize: { for: 1ms }]',
      'workload.steps[1]: a memoize must be the only step of its section',
    ],
    ['a step twice', 'keys: [x, y]', 'steps: [read, read: {id: 1}]', 'there is another step 1'],
    [
      'a claim twice',
      'holds: [fence-monotone]',
      'holds: [grant-order]',
      'both to hold and to break',
    ],
    [
      'no systems',
      /systems:[\s\S]*(?=clients)/.exec(zombie)?.[0] ?? '',
      'systems: {}\n',
      'at least one',
    ],
    ['no name', 'name: zombie\n', '', 'z.yaml:1:1 name: is missing; expected text'],
    ['no duration', 'for: 1ms..20ms, ', '', 'faults[0].pause.for: is missing; expected a duration'],
  ];
  test.each(replaced)('%s', (_, from, to, what) => {
    expect(zombie).toContain(from);
    expect(problemsOf(zombie.replace(from, to)).join('\n')).toContain(what);
  });

  test.each([
    [
      'pause: { process: lock-9, for: 1ms }',
      'unknown process "lock-9"; known: clients, stores, locks, lock, store, alice, bob',
    ],
    [
      'pause: { process: client, for: 1ms }',
      'unknown process "client"; did you mean "clients"? Known: clients, stores, locks, lock,',
    ],
    ['pause: { process: alise, for: 1ms }', 'unknown process "alise"; did you mean "alice"?'],
    ['pause: { before: write, at: 1ms, for: 1ms }', 'at most one of at, before and after'],
    ['pause: { for: 1ms }\n    drop: { chance: 1/2 }', 'a fault is a map of one key'],
    ['duplicate: { by: 1ms, chance: 1/9 }', 'a connection never duplicates messages; use network'],
    ['delay: { by: 1ms, chance: 1/9 }', 'only one delay may omit its message'],
    ['drop: {}', 'needs a chance, or the name of a message'],
    ['late-timer: { by: 1ms }', 'needs a chance, or the name of a timer'],
    ['drop: { message: alice/1/write }', 'a message ends in /request or /reply'],
    ['drop: { from: alice }', 'needs either a message, or from and to'],
    ['drop: { message: checked }', 'checked is a mark, not a message'],
    ['drop: { process: alice, chance: 1/2 }', 'needs a message'],
    ['clock: { process: lock, chance: 1/2 }', 'needs a step or a rate, or clocks: { skew, drift }'],
    ['clock: { process: lock, rate: 5ppm..1ppm }', 'a range of rates must be in order'],
    ['late-timer: { timer: a, at: 1ms, by: 1ms }', 'needs either a timer, or process and at'],
    ['crash: { process: store, restart: soon }', 'or never'],
  ])('%s', (fault, what) => {
    expect(problemsOf(withFault(fault)).join('\n')).toContain(what);
  });

  test('and all of them are reported at once, in file order', () => {
    const text = zombie
      .replace('pause:', 'pausee:')
      .replace('chance: 5%', 'chance: 5')
      .replace('count: 2', 'cuont: 2');
    expect(problemsOf(text)).toMatchInlineSnapshot(`
      [
        "z.yaml:8:12 clients.cuont: unknown field "cuont"; did you mean "count"?",
        "z.yaml:12:5 faults[0].pausee: unknown fault "pausee"; did you mean "pause"?",
        "z.yaml:13:31 faults[1].delay.chance: expected odds such as 1/20 or 5%, at most 1, not 5",
      ]
    `);
  });
});

describe('the fields expect and hosts', () => {
  const setting = (expected: string): string =>
    zombie.replace(/expect: \{[^}]*\}/, `expect: { ${expected} }`);

  test('give each system whose clients connect the hosts of its own servers', () => {
    const hosts = 'hosts: { redis-1:6379: lock, "[::1]:6380": lock-1 }\n';
    const found = read(`name: a\nsystems:\n${LISTENING}${hosts}`);
    expect(found.kind === 'scenario' && found.scenario.systems.map((one) => one.hosts)).toEqual([
      { 'redis-1:6379': 'lock' },
      { '[::1]:6380': 'lock-1' },
      undefined,
    ]);
  });

  test.each<[string, string]>([
    [
      'redis-1:6379: lok',
      'z.yaml:6:24 hosts["redis-1:6379"]: unknown server "lok"; did you mean "lock"?',
    ],
    ['redis-1:6379: redis', '; known: lock, lock-1, lock-2'],
    [
      'redis-1:6379: lock-9',
      "; `servers: ['lock-1', 'lock-2']` in a lock's definition gives it several",
    ],
    [
      'redis-1: lock',
      'z.yaml:6:10 hosts.redis-1: expected a host and its port, such as redis-1:6379',
    ],
    ['"a b:1": lock', 'expected a host and its port'],
    ['redis-1:65536: lock', 'expected a host and its port'],
    ['redis-1:0: lock', 'expected a host and its port'],
    ['redis-1:6379: 3', 'hosts["redis-1:6379"]: expected text, not 3'],
  ])('are refused at the position of an invalid host: %s', (host, problem) => {
    const [first, ...others] = problemsOf(`name: a\nsystems:\n${LISTENING}hosts: { ${host} }\n`);
    expect(first).toContain(problem);
    expect(others).toEqual([]);
  });

  test('are refused for hosts to which no client ever connects', () => {
    const text = 'name: a\nsystems: { s: { lock: lock-service, store: fenced } }\n';
    expect(problemsOf(`${text}hosts: { redis-1:6379: lock }\n`)).toEqual([
      'z.yaml:3:1 hosts: not used: only asynchronous code connects to hosts, and no system has such a lock',
    ]);
    expect(problemsOf(`${text}hosts: {}\n`)).toEqual([]);
  });

  test('may list claims that may break; an empty list is omitted', () => {
    const expected = (given: string): unknown => {
      const found = read(setting(given));
      return found.kind === 'scenario' ? found.scenario.systems[0]?.expect : found.problems;
    };
    expect(expected('holds: [grant-order], may: [fence-monotone]')).toEqual({
      holds: ['grant-order'],
      breaks: [],
      may: ['fence-monotone'],
    });
    expect(expected('may: []')).toEqual({ holds: [], breaks: [] });
  });

  test.each([
    [
      'may: [fence-monotene]',
      'may[0]: unknown claim "fence-monotene"; did you mean "fence-monotone"?',
    ],
    [
      'holds: [fence-monotone], breaks: [fence-monotone]',
      'breaks[0]: "fence-monotone" cannot be expected both',
    ],
    [
      'holds: [fence-monotone], may: [fence-monotone]',
      'may[0]: "fence-monotone" cannot be expected to hold and',
    ],
    [
      'breaks: [fence-monotone], may: [fence-monotone]',
      'may[0]: "fence-monotone" cannot be expected to break',
    ],
  ])('%s is refused', (expected, what) => {
    expect(problemsOf(setting(expected)).join('\n')).toContain(what);
  });
});

describe('holder-overlap', () => {
  const claimed = zombie.replace('[fence-monotone]', '[holder-overlap]');

  test('is refused as a claim if a holder may be paused, cut off, or misled by its clock', () => {
    const calm = claimed.replace(/ {2}- pause.*\n/, '');
    expect(problemsOf(claimed).join()).toContain(
      'this scenario has pauses, with which no lease can',
    );
    expect(problemsOf(calm)).toEqual([]);
    const add = (fault: string): string => problemsOf(`${calm}  - ${fault}\n`).join();
    expect(add('partition: { from: alice, to: lock, for: 1ms }')).toContain('has partitions');
    expect(add('clock: { process: lock, at: 1ms, step: 1ms }')).toContain('has clock steps');
    expect(add('clock: { process: lock, rate: 1ppm }')).toContain('has clock rates');
    expect(add('clock: { process: lock, step: 1ms }')).toEqual('');
  });
});

describe('a warning is reported', () => {
  test('if the longest section does not fit its lease even without faults', () => {
    expect(warningsOf(zombie)).toEqual([]);
    const slow = zombie.replace('latency: 1ms', 'latency: 1ms..4ms');
    expect(warningsOf(slow)).toEqual([
      'z.yaml:8:1 clients: a section of alice in system one may take 12 ms without any fault, and its lease ends after 10 ms',
    ]);
    const locks = new Map([['lock-service', { ...lock, servers: (): string[] => [] }]]);
    const inMemory = readScenario({
      text: slow,
      file: 'z.yaml',
      vocabulary: { ...vocabulary, locks },
    });
    expect(inMemory).toMatchObject({ kind: 'scenario', warnings: [] });
    const steps = 'steps: [{ compute: 7ms }, write]';
    expect(warningsOf(zombie.replace('keys: [x, y]', steps)).join()).toContain('may take 10 ms');
    const renewed = 'steps: [{ compute: 4ms }, renew, { compute: 5ms }, write]';
    expect(warningsOf(zombie.replace('keys: [x, y]', renewed))).toEqual([]);
  });

  test('if a fault may come after the world has healed', () => {
    const late = `${withFault('crash: { process: lock, at: 90ms }')}time: 50ms\n`;
    expect(warningsOf(late).join()).toContain('z.yaml:14:33 faults[2].crash.at: may be after');
  });
});
