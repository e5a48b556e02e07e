/** Measures the bare event loop, and the loop with a trace event recorded per event. */
import type { TraceEvent } from '../../src/core/history/events.ts';
import { type Name, nameOf } from '../../src/core/kernel/name.ts';
import { type Due, EventQueue } from '../../src/core/kernel/queue.ts';
import { Scheduler } from '../../src/core/kernel/scheduler.ts';
import { formatRatio, measure, type Row, rates, type Subject } from './measure.ts';

const EVENTS = 500_000;
const PENDING = 1_000;
const NAME: Name = nameOf('tick');

/** An event that schedules its successor at a time from a cheap generator. */
class Tick implements Due {
  readonly name: Name = NAME;
  readonly timeUs: number;
  readonly tie: number;
  readonly isCancelled = false;
  seq = 0;
  readonly scheduler: Scheduler;
  readonly trace: TraceEvent[] | null;

  constructor(
    loop: { scheduler: Scheduler; trace: TraceEvent[] | null },
    afterUs: number,
    tie: number,
  ) {
    this.scheduler = loop.scheduler;
    this.trace = loop.trace;
    this.timeUs = afterUs + 1 + (tie & 0x3ff);
    this.tie = tie;
  }

  fire(): void {
    this.trace?.push({
      kind: 'receive',
      atUs: this.timeUs,
      from: 'alice',
      to: 'lock',
      message: NAME.text,
      isCopy: false,
    });
    this.scheduler.schedule(this.successor());
  }

  successor(): Tick {
    return new Tick(this, this.timeUs, Math.imul(this.tie ^ this.timeUs, 0x9e3779b1) >>> 0);
  }
}

function firstTicks(scheduler: Scheduler, trace: TraceEvent[] | null): readonly Tick[] {
  return Array.from(
    { length: PENDING },
    (_, at) => new Tick({ scheduler, trace }, 0, Math.imul(at + 1, 0x85ebca6b) >>> 0),
  );
}

function runLoop(trace: TraceEvent[] | null): void {
  const scheduler = new Scheduler();
  for (const tick of firstTicks(scheduler, trace)) scheduler.schedule(tick);
  scheduler.run({ endUs: Number.MAX_SAFE_INTEGER, maxEvents: EVENTS });
}

/** The same events through the queue alone, as the baseline for the loop. */
function runQueue(): void {
  const queue = new EventQueue();
  for (const tick of firstTicks(new Scheduler(), null)) queue.push(tick);
  for (let left = EVENTS; left > 0; left -= 1) {
    const tick = queue.pop();
    if (tick instanceof Tick) queue.push(tick.successor());
  }
}

async function* rows(): AsyncIterable<Row> {
  const took = await measure({
    queue: runQueue,
    bare: () => runLoop(null),
    traced: () => runLoop([]),
  });
  yield {
    what: `bare events, ${PENDING} pending`,
    ...rates(EVENTS, took('bare')),
    ratio: `${formatRatio(took('bare'), took('queue'))} the time of its queue alone`,
    target: '≥ 2 M/s (stretch 4)',
  };
  yield {
    what: 'the same, each recorded in a trace',
    ...rates(EVENTS, took('traced')),
    ratio: `${formatRatio(took('traced'), took('bare'))} the time of bare events`,
    target: '≥ 1 M/s (stretch 3)',
  };
}

export const kernel: Subject = {
  name: 'kernel',
  about: 'events that schedule one another, bare and with the trace recorded',
  isLong: false,
  rows,
};
