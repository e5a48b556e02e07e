/** One run as the numbers that systems are compared by: a pure function of its plan and trace. */
import { indexTrace } from '../../check/trace-index.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { type SectionFate, sectionFates } from './section-fates.ts';
import { wrongUpdates } from './wrong-updates.ts';

export interface RunMeasures {
  /** Sections that clients were to do. */
  readonly planned: number;
  readonly begun: number;
  readonly acknowledged: number;
  /**
   * When the last client was done; where one never is, when the world healed, if that is later.
   * At least 1.
   */
  readonly doneUs: number;
  /** Of every section that got its lock, or without one its commit, in the plan's order. */
  readonly waitsUs: readonly number[];
  /** Of every acknowledged section with writes: from its first request to its last answer. */
  readonly commitsUs: readonly number[];
  readonly retries: number;
  /** Sections given up, and requests denied because they would have closed a circle. */
  readonly aborts: number;
  readonly deadlocks: number;
  /** Sections whose client waits for ever. */
  readonly stuck: number;
  /** Over all counters: updates that a store accepted and that are in its final value no more. */
  readonly lost: number;
  /** How often an update took effect again that had taken effect before. */
  readonly repeated: number;
}

/** What a run comes to. The plan has no probe, whose writes would count as a client's. */
export function measureRun(plan: Plan, trace: Trace): RunMeasures {
  const indexed = indexTrace(trace);
  const fates = sectionFates(plan, indexed);
  const count = (of: (fate: SectionFate) => boolean): number => fates.filter(of).length;
  const stuck = count(({ fate }) => fate === 'stuck');
  const givenUp = count(({ fate }) => fate === 'given-up');
  return {
    planned: fates.length,
    begun: count(({ fate }) => fate !== 'never'),
    acknowledged: count(({ fate }) => fate === 'acknowledged'),
    doneUs: Math.max(1, doneUs(trace, stuck > 0)),
    commitsUs: fates.flatMap(({ commitUs }) => (commitUs === null ? [] : [commitUs])),
    waitsUs: fates.flatMap(({ waitUs }) => (waitUs === null ? [] : [waitUs])),
    retries: fates.reduce((sum, { retries }) => sum + retries, 0),
    aborts: givenUp + deniedForCircles(trace),
    deadlocks: trace.events.filter(({ kind }) => kind === 'deadlock').length,
    stuck,
    ...wrongUpdates(indexed),
  };
}

function doneUs({ events }: Trace, isAnyStuck: boolean): number {
  let lastUs = 0;
  for (const event of events) {
    const isDone = event.kind === 'return' || event.kind === 'leave';
    if (isDone || (isAnyStuck && event.kind === 'healed')) lastUs = event.atUs;
  }
  return lastUs;
}

/** Denials that follow at once on a circle, to the client that would have closed it. */
function deniedForCircles({ events }: Trace): number {
  let denied = 0;
  for (const [at, event] of events.entries()) {
    const next = events[at + 1];
    if (event.kind !== 'deadlock' || next?.kind !== 'deny' || next.waits === true) continue;
    if (next.client === event.waits[0]?.client) denied += 1;
  }
  return denied;
}
