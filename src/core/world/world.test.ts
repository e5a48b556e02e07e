import { describe, expect, test } from 'vitest';
import { nameOf } from '../kernel/name.ts';
import { happen, MS, type Script } from './echo.fixture.ts';
import { mark } from './program.ts';

const asks: Script = function* (alice) {
  yield* alice.ask({ name: 'a' });
};

describe('a run', () => {
  test('is complete when no event is left', () => {
    expect(happen({ alice: asks }).ending).toEqual({ kind: 'complete' });
  });

  test('stops at its limits', () => {
    const forEver: Script = function* (alice) {
      for (let at = 1; ; at += 1) yield* alice.wait(`${at}`, 1);
    };
    const truncatedBy = (limits: { maxEvents?: number; endUs?: number }): unknown =>
      happen({ alice: forEver }, { limits }).ending;
    expect(truncatedBy({ maxEvents: 50 })).toEqual({ kind: 'cut', limit: 'maxEvents' });
    expect(truncatedBy({ endUs: 50 * MS })).toEqual({ kind: 'cut', limit: 'end' });
  });

  test('is not stopped by a timeout that no call waits for any more', () => {
    const patient: Script = function* (alice) {
      yield* alice.ask({ name: 'a', timeoutMs: 5000 });
    };
    const trace = happen({ alice: patient }, { limits: { endUs: 2000 * MS } });
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('fails if its system throws, and reports the process and the error', () => {
    const wrong: Script = function* (alice) {
      yield* alice.ask({ name: 'a', add: -1 });
    };
    expect(happen({ alice: wrong }).ending).toEqual({
      kind: 'failed',
      process: 'echo',
      error: 'it cannot add -1',
    });
    const throws: Script = function* (alice) {
      yield* alice.wait('nap', 1);
      throw new Error('no');
    };
    expect(happen({ alice: throws }).ending).toEqual({
      kind: 'failed',
      process: 'alice',
      error: 'no',
    });
  });

  test('fails if a program never waits', () => {
    const spins: Script = function* () {
      for (;;) yield* mark(nameOf('alice'), 'round');
    };
    expect(happen({ alice: spins }).ending).toEqual({
      kind: 'failed',
      process: 'alice',
      error: 'it never waits',
    });
  });

  test('may take 100,000 steps at one instant, and as many again after a wait', () => {
    const limits = { maxEvents: 300_000 };
    const marking = (count: number): Script =>
      function* (alice) {
        const point = nameOf('alice/round');
        for (const nap of ['one', 'two']) {
          for (let at = 0; at < count; at += 1) yield { kind: 'mark', point };
          yield* alice.wait(nap, 1);
        }
      };
    expect(happen({ alice: marking(100_000) }, { limits }).ending).toEqual({ kind: 'complete' });
    expect(happen({ alice: marking(100_001) }, { limits }).ending).toMatchObject({
      error: 'it never waits',
    });
  });
});
