import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Fault, When } from '../../core/plan/fault.ts';
import { eventsOf, MS } from '../../systems/plan.fixture.ts';
import { EPOCH_MS } from './incarnation.ts';
import { happen, logOf, PING, type Script } from './script.fixture.ts';

const before = (point: string): When => ({ kind: 'before', point });
const after = (point: string): When => ({ kind: 'after', point });
const at = (ms: number): When => ({ kind: 'at', atUs: ms * MS });

const pause = (when: When, ms: number): Fault => ({
  kind: 'pause',
  process: 'alice',
  when,
  forUs: ms * MS,
  clocks: 'run',
});

const crash = (when: When, restartAfterUs: number | null): Fault => ({
  kind: 'crash',
  process: 'alice',
  when,
  restartAfterUs,
});

const ping = { label: 'ping', request: PING } as const;

describe('a pause', () => {
  test('stops everything; when it ends, messages arrive, then due timers fire', async () => {
    const alice: Script = async (context, echo) => {
      const section = context.section(1);
      setTimeout(() => context.log('', 'timer of 3 ms'), 3);
      setTimeout(() => context.log('', 'timer of 1 ms'), 1);
      await section.call(echo, ping);
      context.log('', 'answer');
      await null;
      context.log('', 'its job');
    };
    const trace = await happen({ alice }, { faults: [pause(at(0.5), 10)] });
    expect(logOf(trace)).toEqual([
      '10.5 answer',
      '10.5 its job',
      '10.5 timer of 1 ms',
      '10.5 timer of 3 ms',
    ]);
  });

  test('before a send delays the fixed request, so that earlier readings are stale', async () => {
    const alice: Script = async (context, echo) => {
      const section = context.section(1);
      const isInTime = Date.now() - EPOCH_MS < 5;
      if (isInTime) await section.call(echo, ping);
      context.log('', `${isInTime}, and now it is ${Date.now() - EPOCH_MS}`);
    };
    const trace = await happen({ alice }, { faults: [pause(before('alice/1/ping'), 50)] });
    expect(eventsOf(trace, 'invoke').map(({ atUs }) => atUs / MS)).toEqual([50]);
    expect(logOf(trace)).toEqual(['52 true, and now it is 52']);
  });

  test('at an awaited mark falls between a check and the send', async () => {
    const alice: Script = async (context, echo) => {
      const section = context.section(1);
      await section.mark('checking');
      if (Date.now() - EPOCH_MS < 5) await section.call(echo, ping);
    };
    const trace = await happen({ alice }, { faults: [pause(before('alice/1/checking'), 50)] });
    expect(eventsOf(trace, 'invoke')).toEqual([]);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('after an answer delays the answer to the code', async () => {
    const alice: Script = async (context, echo) => {
      await context.section(1).call(echo, ping);
      context.log('', 'answer');
    };
    const trace = await happen({ alice }, { faults: [pause(after('alice/1/ping'), 5)] });
    expect(eventsOf(trace, 'return').map(({ atUs }) => atUs / MS)).toEqual([2]);
    expect(logOf(trace)).toEqual(['7 answer']);
  });

  test('keeps the order of requests and marks', async () => {
    const alice: Script = async (context, echo) => {
      const section = context.section(1);
      const ask = (label: string): Promise<unknown> => section.call(echo, { label, request: PING });
      const marked = [section.mark('one').then(() => ask('d')), section.mark('two')];
      await Promise.all([ask('a'), ask('b'), ...marked, ask('c'), section.mark('three')]);
      context.log('', 'all');
    };
    const faults = [pause(before('alice/1/one'), 5), pause(before('alice/1/c'), 5)];
    const trace = await happen({ alice }, { faults });
    const asked = trace.events.flatMap((event) => {
      if (event.kind === 'invoke') return [`${event.atUs / MS} ${event.operation}`];
      return event.kind === 'mark' ? [`${event.atUs / MS} ${event.point}`] : [];
    });
    expect(asked).toEqual([
      '0 alice/1/one',
      '5 alice/1/two',
      '5 alice/1/a',
      '5 alice/1/b',
      '10 alice/1/c',
      '10 alice/1/three',
      '10 alice/1/d',
    ]);
    expect(logOf(trace)).toEqual(['12 all']);
  });
});

test('a clock that is wrong from the start is wrong at its first reading', async () => {
  const ahead = { kind: 'clock', process: 'alice', stepUs: 3_600_000 * MS, ratePpm: 0 } as const;
  const script: Script = async (context) => context.log('', new Date().toISOString());
  const faults: readonly Fault[] = [{ ...ahead, when: at(0) }];
  const trace = await happen({ alice: script, bob: script }, { faults });
  expect(logOf(trace)).toEqual(['0 2024-01-01T01:00:00.000Z', '0 2024-01-01T00:00:00.000Z']);
});

describe('a crash', () => {
  const alice: Script = async (context, echo) => {
    context.log('', `life ${context.incarnation.ordinal}, ${context.begun} sections`);
    const section = context.section(context.incarnation.ordinal);
    setInterval(() => context.log('', `tick of life ${context.incarnation.ordinal}`), 4);
    await section.call(echo, ping);
    context.log('', 'answer');
    await wait(3);
    context.log('', 'waited');
    await new Promise(() => {});
  };

  test('ends all waits of the code, and a restart begins from the start', async () => {
    const setup = { limits: { endUs: 14 * MS } };
    const trace = await happen({ alice }, { faults: [crash(at(4.5), 2 * MS)], ...setup });
    expect(logOf(trace)).toEqual([
      '0 life 1, 0 sections',
      '2 answer',
      '4 tick of life 1',
      '6.5 life 2, 1 sections',
      '8.5 answer',
      '10.5 tick of life 2',
      '11.5 waited',
    ]);
  });

  test('before a send prevents the send, even if jobs still run', async () => {
    const ran: string[] = [];
    const tries: Script = async (context, echo) => {
      if (context.incarnation.ordinal > 1) return;
      const section = context.section(1);
      void section.call(echo, ping).then(() => context.log('', 'answer'));
      void section.call(echo, ping);
      setTimeout(() => ran.push('timer'), 9);
      await null;
      ran.push('job');
      void Promise.reject(new Error('of the dead'));
      await section.mark('mark');
      context.log('', 'never');
    };
    const trace = await happen(
      { alice: tries },
      { faults: [crash(before('alice/1/ping'), 5 * MS)] },
    );
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(trace.events.map(({ kind }) => kind)).toEqual(['fault', 'restart', 'healed']);
    expect(ran).toEqual(['job']);
  });
});

describe('a message', () => {
  const alice: Script = async (context, echo) => {
    const section = context.section(1);
    const first = await section.call(echo, ping, { timeoutMs: 10 });
    context.log('', first.kind);
    const second = await section.call(echo, ping, { timeoutMs: 10 });
    context.log('', second.kind);
  };
  const which = { kind: 'message', message: 'alice/1/ping/1/request' } as const;

  test('that is late leaves the outcome unknown after the timeout', async () => {
    const faults: Fault[] = [{ kind: 'delay', which, byUs: 20 * MS }];
    const trace = await happen({ alice }, { faults });
    expect(logOf(trace)).toEqual(['10 unknown', '20 unknown']);
  });

  test('that is lost resets its connection, and the outcome is unknown', async () => {
    const trace = await happen({ alice }, { faults: [{ kind: 'drop', which }] });
    expect(logOf(trace)).toEqual(['1 unknown', '3 answered']);
  });

  test('to a server that is down is reported as never executed', async () => {
    const late: Script = async (context, echo) => {
      await wait(1);
      await alice(context, echo);
    };
    const when = at(0);
    const down: Fault = { kind: 'crash', process: 'echo', when, restartAfterUs: 4 * MS };
    const trace = await happen({ alice: late }, { faults: [down] });
    expect(logOf(trace)).toEqual(['3 never', '5 answered']);
  });
});

describe('a reset at a point', () => {
  const reset = (from: string): Fault => ({
    kind: 'reset',
    from,
    to: 'echo',
    when: before('alice/1/m'),
  });

  test('settles the calls of its own process after the jobs that run', async () => {
    const alice: Script = async (context, echo) => {
      const section = context.section(1);
      void section.call(echo, ping).then(({ kind }) => context.log('', kind));
      await section.mark('m');
      context.log('', 'marked');
    };
    const trace = await happen({ alice }, { faults: [reset('alice')] });
    expect(logOf(trace)).toEqual(['0 marked', '0 unknown']);
  });

  test('settles the calls of another process in its own time and after these jobs', async () => {
    const alice: Script = async (context) => {
      await wait(1);
      await context.section(1).mark('m');
      context.log('', `${context.name} ${performance.now()}`);
    };
    const bob: Script = async (context, echo) => {
      const { kind } = await context.section(1).call(echo, ping);
      context.log('', `${context.name} ${performance.now()} ${kind}`);
    };
    const slow: Fault = {
      kind: 'clock',
      process: 'bob',
      when: at(0),
      stepUs: 0,
      ratePpm: -500_000,
    };
    const trace = await happen({ alice, bob }, { faults: [slow, reset('bob')] });
    expect(logOf(trace)).toEqual(['1 alice 1', '1 bob 0.5 unknown']);
  });
});
