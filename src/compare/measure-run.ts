/** One run as the numbers that systems are compared by: a pure function of its plan and trace. */
import { finalContents } from '../check/contents.ts';
import { isAcknowledged, type Survey, surveyTrace } from '../check/survey.ts';
import type { Trace } from '../history/trace.ts';
import type { Plan } from '../plan/plan.ts';
import { type SectionFate, sectionFates } from './section-fates.ts';

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
  /** Over all counters: by how much the final value is below what was acknowledged. */
  readonly lost: number;
}

/** What a run comes to. The plan has no probe, whose writes would count as a client's. */
export function measureRun(plan: Plan, trace: Trace): RunMeasures {
  const survey = surveyTrace(trace);
  const fates = sectionFates(plan, survey);
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
    lost: lostUpdates(survey),
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

/** The arithmetic of `no-lost-update`, counter by counter: acknowledged minus final, from 0. */
export function lostUpdates(survey: Survey): number {
  const acknowledged = new Map<string, number>();
  for (const operation of survey.operations.values()) {
    const { call } = operation.invoke.event;
    if (call.verb !== 'write' || call.adds === null || !isAcknowledged(operation)) continue;
    const name = JSON.stringify([call.store, call.resource, call.key]);
    acknowledged.set(name, (acknowledged.get(name) ?? 0) + call.adds);
  }
  let lost = 0;
  for (const place of survey.places) {
    for (const key of place.keys.values()) {
      const name = JSON.stringify([place.store, place.resource, key.key]);
      const { value } = finalContents(place, key);
      lost += Math.max(0, (acknowledged.get(name) ?? 0) - value);
    }
  }
  return lost;
}
