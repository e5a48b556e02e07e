import { describe, expect, test } from 'vitest';
import { renderPath } from '../../text/problem.ts';
import { client } from '../shrink/sample-plan.fixture.ts';
import { machinesOf, type QueuePlan } from './plan.ts';
import { completeQueue, fieldsOfQueue, queueFindings, transitionFindings } from './queue-text.ts';

const bare: QueuePlan = {
  steps: 1,
  retries: 5,
  visibilityUs: 30_000_000,
  messages: [],
  copies: [],
};

describe('an empty queue', () => {
  test('in a file has a message for the first step of each machine', () => {
    expect(completeQueue({}, ['a', 'b'])).toEqual({
      ...bare,
      messages: [
        { machine: 'a', steps: 0, retries: 0, atUs: 0 },
        { machine: 'b', steps: 0, retries: 0, atUs: 0 },
      ],
    });
  });

  test('is written with its empty list of messages, and without copies', () => {
    expect(fieldsOfQueue(bare)).toEqual({ messages: [] });
  });
});

describe('a queue that is written out', () => {
  const message = { machine: 'a', steps: 2, retries: 1, atUs: 5 };
  const copy = { machine: 'db', steps: 0, retries: 0, afterUs: 7 };
  const full: QueuePlan = {
    steps: 3,
    retries: 1,
    visibilityUs: 9,
    messages: [message],
    copies: [copy],
  };

  test('has the messages that it lists, and no others', () => {
    const read = {
      steps: 3,
      retries: 1,
      visibility: 9,
      messages: [{ machine: 'a', steps: 2, retries: 1, at: 5 }],
      copies: [{ after: 7 }],
    };
    expect(completeQueue(read, ['c'])).toEqual(full);
  });

  test('states the step of each message, and otherwise only non-default fields', () => {
    expect(fieldsOfQueue(full)).toEqual({
      steps: 3,
      retries: 1,
      visibility: '9us',
      messages: [{ machine: 'a', steps: 2, retries: 1, at: '5us' }],
      copies: [{ steps: 0, after: '7us' }],
    });
  });
});

describe('a message is refused', () => {
  const machines = new Set(['a']);
  const wrongWith = (message: object): readonly string[] => {
    const one = { machine: 'a', steps: 0, retries: 0, ...message };
    const queue: QueuePlan = {
      ...bare,
      steps: 2,
      retries: 3,
      messages: [{ ...one, atUs: 0 }],
      copies: [{ ...one, afterUs: 0 }],
    };
    return queueFindings(queue, machines).map(
      ({ path, isKey, what }) => `${renderPath(path)} ${isKey}: ${what}`,
    );
  };

  test.each([
    [
      'whose machine no section takes',
      { machine: 'b' },
      'no section takes the lock "b" of this machine',
    ],
    [
      'for a step beyond the last',
      { steps: 2 },
      'there is no step 2: the machines of this queue have 2, from 0',
    ],
    [
      'for a retry beyond the last',
      { retries: 4 },
      'there is no retry 4: a step of this queue is retried 3 times',
    ],
  ])('%s', (_, message, what) => {
    expect(wrongWith(message)).toEqual([
      `queue.messages[0] false: ${what}`,
      `queue.copies[0] false: ${what}`,
    ]);
  });

  test('but not for the last step or the last retry', () => {
    expect(wrongWith({ steps: 1, retries: 3 })).toEqual([]);
  });
});

test.each([
  [[], false, []],
  [['write', 'read'], true, []],
  [['write', 'transition'], true, []],
  [
    ['write', 'transition'],
    false,
    ['1 false: a transition needs a queue that determines its step: queue: { steps: 4 }'],
  ],
  [
    ['transition', 'transition'],
    false,
    ['0 false: a transition needs a queue that determines its step: queue: { steps: 4 }'],
  ],
  [
    ['transition', 'read', 'transition'],
    true,
    ['2 false: a section has one message, and so one transition'],
  ],
] as const)('a section of %j (with a queue: %s) has the findings %j', (kinds, hasQueue, found) => {
  const steps = kinds.map((kind) => ({ kind }));
  const findings = transitionFindings(steps, hasQueue, (at) => [at]);
  expect(findings.map(({ path, isKey, what }) => `${path.join()} ${isKey}: ${what}`)).toEqual(
    found,
  );
});

test('each lock that a section takes is one machine', () => {
  const clients = [client('alice', 0), client('bob', 0)].map((one) => ({
    ...one,
    sections: one.sections.map((section) => ({ ...section, lock: `${one.name}-${section.id}` })),
  }));
  const taken = machinesOf({ clients: [...clients, ...clients] });
  expect([...taken]).toEqual(['alice-1', 'alice-2', 'bob-1', 'bob-2']);
});
