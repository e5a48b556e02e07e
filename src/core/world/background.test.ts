import { describe, expect, test } from 'vitest';
import { nameOf } from '../kernel/name.ts';
import type { Fault } from '../plan/fault.ts';
import { type Actor, happen, linesOf, MS, type Script } from './echo.fixture.ts';
import { type Background, inBackground, type Program } from './program.ts';

/** Asks every 3 ms, as a heartbeat does. */
function* beat(alice: Actor): Program<void> {
  for (let count = 1; ; count += 1) {
    yield* alice.wait(`beat-${count}`, 3);
    yield* alice.ask({ name: `heartbeat-${count}` });
  }
}

/** Works for 12 ms beside its heartbeat, then stops it. */
const works: Script = function* (alice) {
  const heartbeat = yield* inBackground(beat(alice));
  yield* alice.wait('nap', 12);
  heartbeat.stop();
  yield* alice.ask({ name: 'work' });
};

function pauseFrom(when: Extract<Fault, { kind: 'pause' }>['when']): Fault {
  return { kind: 'pause', process: 'alice', when, forUs: 7 * MS, clocks: 'run' };
}

describe('a program in the background', () => {
  test('runs while the main program waits, and names its calls separately', () => {
    expect(linesOf(happen({ alice: works }), 'call')).toEqual([
      '3 call alice/heartbeat-1',
      '8 call alice/heartbeat-2',
      '12 call alice/work',
    ]);
  });

  test('stops during a pause of its process, and continues after it', () => {
    const faults = [pauseFrom({ kind: 'at', atUs: 1 * MS })];
    const trace = happen({ alice: works }, { faults });
    expect(linesOf(trace, 'call')).toEqual(['8 call alice/heartbeat-1', '12 call alice/work']);
  });

  test('has points for faults, and a pause there stops the main program, too', () => {
    const faults = [pauseFrom({ kind: 'before', point: 'alice/heartbeat-2' })];
    const trace = happen({ alice: works }, { faults });
    expect(linesOf(trace, 'inject', 'call')).toEqual([
      '3 call alice/heartbeat-1',
      '8 inject pause alice',
      '15 call alice/heartbeat-2',
      '15 call alice/work',
    ]);
  });

  test('ends when its process crashes, and a restart begins without it', () => {
    const restarts: Script = function* (alice) {
      if (alice.from > 0) return;
      alice.self.beginSection(nameOf('alice/1'));
      yield* works(alice);
    };
    const when = { kind: 'at', atUs: 4 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'alice', when, restartAfterUs: 2 * MS };
    const trace = happen({ alice: restarts }, { faults: [crash] });
    expect(linesOf(trace, 'call')).toEqual(['3 call alice/heartbeat-1']);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });

  test('shares the clock of its process', () => {
    const when = { kind: 'at', atUs: 0 } as const;
    const slow: Fault = { kind: 'clock', process: 'alice', when, stepUs: 0, ratePpm: -500_000 };
    const trace = happen({ alice: works }, { faults: [slow] });
    expect(linesOf(trace, 'call')[0]).toBe('6 call alice/heartbeat-1');
  });

  test('can stop itself', () => {
    let heartbeat: Background | null = null;
    const stopsItself: Script = function* (alice) {
      heartbeat = yield* inBackground(
        (function* once(): Program<void> {
          yield* alice.wait('once', 3);
          heartbeat?.stop();
          yield* alice.ask({ name: 'never' });
        })(),
      );
      yield* alice.wait('nap', 5);
      yield* alice.ask({ name: String(heartbeat.isRunning) });
    };
    expect(linesOf(happen({ alice: stopsItself }), 'call')).toEqual(['5 call alice/false']);
  });

  test('outlives the main program until the world has healed and every client has ended', () => {
    const leaves: Script = function* (alice) {
      yield* inBackground(beat(alice));
    };
    const looks: Script = (bob) => bob.wait('nap', 14);
    const trace = happen({ alice: leaves, probe: looks }, { healAtMs: 4 });
    expect(linesOf(trace, 'call')).toEqual([
      '3 call alice/heartbeat-1',
      '8 call alice/heartbeat-2',
      '13 call alice/heartbeat-3',
    ]);
    expect(trace.ending).toEqual({ kind: 'complete' });
  });
});
