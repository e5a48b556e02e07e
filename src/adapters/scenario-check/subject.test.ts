import { describe, expect, test } from 'vitest';
import type { LockDefinition } from '../../index.ts';
import { defineSystem } from '../../index.ts';
import { type AnyOptions, type Body, checkOptions, type WrittenHere } from './options.ts';
import { lockOfBody, Mistakes, readSubject, type TestSubject } from './subject.ts';
import { TestRefused } from './test-place.ts';

const none = { faults: [] } as const;
const body: Body<object, object> = async (section) => {
  await section.mark('waiting');
  await section.guard().work();
};

/** Returns the subject of a test with these options. Plain JavaScript may pass any. */
async function subjectOf(options: object, given?: Body<object, object>): Promise<TestSubject> {
  const isOptions = (value: object): value is AnyOptions => typeof value === 'object';
  if (!isOptions(options)) return expect.fail('no options');
  const lock = given === undefined ? null : lockOfBody({}, given, []);
  const source = { folder: 'fixtures', slug: 'a-test', mistakes: new Mistakes() };
  return readSubject(checkOptions(options, lock), source);
}

const problemsOf = async (options: object, given?: Body<object, object>): Promise<string> => {
  const error = await subjectOf(options, given).catch((reason: unknown) => reason);
  return error instanceof TestRefused ? error.message : expect.fail(String(error));
};

test('a body without a lock runs without acquiring, and is judged by its data', async () => {
  const isOptions = (value: object): value is AnyOptions => typeof value === 'object';
  const options: object = { ...none, lock: 'none', clients: { count: 2, concurrency: 3 } };
  if (!isOptions(options)) return expect.fail('no options');
  const lock = lockOfBody({ lock: 'none' }, body, []);
  const source = { folder: 'fixtures', slug: 'a-test', mistakes: new Mistakes() };
  const { scenario, systems } = await readSubject(checkOptions(options, lock), source);
  expect(systems.map(({ lock: name, hasGrants }) => [name, hasGrants])).toEqual([
    ['own-lock', false],
  ]);
  expect(systems[0]?.expect.holds).toEqual(['no-lost-update']);
  expect(scenario.clients.map(({ concurrency }) => concurrency)).toEqual([3, 3]);
  const grants: object = { ...options, holds: ['grant-order'] };
  if (!isOptions(grants)) return expect.fail('no options');
  const wrong = checkOptions(grants, lock);
  await expect(readSubject(wrong, source)).rejects.toThrow(
    'holds[0]: grant-order applies to grants, but sections of own-lock acquire nothing',
  );
});

describe('options', () => {
  test('have the meaning of the fields of a scenario file', async () => {
    const { scenario, systems } = await subjectOf({
      lock: 'redis',
      options: { release: 'delete' },
      store: 'fenced',
      ...none,
      clients: { count: 3, ttl: '20ms' },
      network: { latency: '2ms' },
      seeds: 5,
    });
    expect(scenario.name).toBe('a-test');
    expect(scenario.clients.map(({ settings }) => settings.ttlUs)).toEqual([20e3, 20e3, 20e3]);
    expect(scenario.network.latency).toEqual({ minUs: 2000, maxUs: 2000 });
    expect(systems).toMatchObject([
      { name: 'redis', lock: 'redis', store: 'fenced', options: { release: 'delete' } },
    ]);
  });

  test('without a claim expect grant-order to hold, for a store without a fence', async () => {
    const { systems } = await subjectOf(none, body);
    expect(systems).toMatchObject([
      { lock: 'own-lock', store: 'unfenced', expect: { holds: ['grant-order'], breaks: [] } },
    ]);
    const breaking = await subjectOf({ ...none, breaks: ['fence-monotone'] }, body);
    expect(breaking.systems[0]?.expect).toEqual({ holds: [], breaks: ['fence-monotone'] });
  });

  test('allow faults at the operations and marks of the body', async () => {
    const faults: WrittenHere['faults'] = [{ pause: { before: 'waiting', for: '1ms' } }];
    const { systems } = await subjectOf({ faults }, body);
    expect(systems[0]?.operations).toEqual(['checked', 'waiting']);
    const wrong = [{ pause: { before: 'waitin', for: '1ms' } }];
    expect(await problemsOf({ faults: wrong }, body)).toBe(
      'faults[0].pause.before: unknown point "waitin"; did you mean "waiting"?',
    );
  });

  test.each<[string, object, string]>([
    ['an unknown option', { seedz: 1 }, 'unknown field "seedz"; did you mean "seeds"?'],
    ['a field in a field', { clients: { ttll: '1ms' } }, 'clients.ttll: unknown field "ttll"'],
    ['a claim', { holds: ['grant-ordr'] }, 'holds[0]: unknown claim "grant-ordr"; did you mean'],
    ['a store', { store: 'fence' }, 'store: unknown store "fence"; did you mean "fenced"?'],
    [
      'a value that is not plain data',
      { clients: { ttl: () => 1 } },
      'clients.ttl: expected plain data',
    ],
    ['NaN', { maxEvents: Number.NaN }, 'maxEvents: expected plain data, not NaN'],
    ['a list of seeds', { seeds: [5, 1] }, 'seeds: expected a count, or the first and the last'],
    ['no seeds', { seeds: 0 }, 'seeds: expected a count'],
    ['a time', { timeout: '5s' }, 'timeout: expected milliseconds, more than 0, not "5s"'],
    ['a lock', { lock: 'redis' }, 'lock: not allowed with a body'],
    ['a system', { system: 'fenced' }, 'system: allowed only with `scenario`'],
    ['no faults', { faults: undefined }, 'faults: is missing'],
  ])('with a mistake in %s are refused by name', async (_, options, text) => {
    expect(await problemsOf({ ...none, ...options }, body)).toContain(text);
  });

  test('without a body need a lock, and refuse options for a body', async () => {
    expect(await problemsOf(none)).toContain('lock: is missing; give a body');
    expect(await problemsOf({ ...none, lock: 'redlok' })).toBe(
      'lock: unknown lock "redlok"; did you mean "redlock"?',
    );
    expect(await problemsOf({ ...none, lock: 'redis', start: () => ({}) })).toBe(
      'start: allowed only with a body',
    );
    expect(await problemsOf({ ...none, lock: 'redis', options: { ttl: 1 } })).toContain(
      'options.ttl: redis has no option "ttl"',
    );
  });
});

describe('a definition', () => {
  const buildAsync: LockDefinition['buildAsync'] = () => () => async (section) =>
    section.guard().leave();

  test('replaces a body', async () => {
    const lock = { about: 'a lock that is none', servers: [], buildAsync };
    expect((await subjectOf({ ...none, lock })).systems).toMatchObject([{ lock: 'own-lock' }]);
    expect(await problemsOf({ ...none, lock: { buildAsync } })).toBe('lock.about is not a string');
  });

  test('adds names', async () => {
    const judge = (): { exercised: number } => ({ exercised: 1 });
    const use = defineSystem({ claims: { calm: { about: 'nothing breaks it', judge } } });
    const { systems } = await subjectOf({ ...none, use, holds: ['calm'] }, body);
    expect(systems[0]?.expect.holds).toEqual(['calm']);
    expect(await problemsOf({ ...none, use: [use, use] }, body)).toContain('use: the claim "calm"');
  });
});

describe('a scenario', () => {
  test('is a file beside the test, or a text in which the body is the lock own-lock', async () => {
    const file = await subjectOf({ scenario: './zombie-writer.yaml', system: 'fenced' });
    expect(file.systems.map(({ name }) => name)).toEqual(['fenced']);
    const scenario = [
      'name: own',
      'systems: { mine: { lock: own-lock, store: unfenced, expect: { holds: [progress] } } }',
      '',
    ].join('\n');
    expect((await subjectOf({ scenario }, body)).systems[0]?.name).toBe('mine');
  });

  test.each<[string, object, string]>([
    ['is missing', { scenario: './none.yaml' }, 'scenario: ./none.yaml: there is no such file'],
    [
      'lacks the named system',
      { scenario: './zombie-writer.yaml', system: 'fence' },
      'mean "fenced"?',
    ],
    [
      'sets the same field',
      { scenario: './zombie-writer.yaml', ...none },
      'faults: the scenario sets it',
    ],
    ['has mistakes', { scenario: 'name: a\nsystem: {}\n' }, 'scenario:2:1 system: unknown field'],
    [
      'expects nothing',
      { scenario: 'name: a\nsystems: { b: { lock: redis, store: fenced } }\n' },
      'scenario has no expectations for b',
    ],
  ])('that %s is refused', async (_, options, text) => {
    expect(await problemsOf(options)).toContain(text);
  });
});
