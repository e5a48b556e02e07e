/**
 * Measures one run for comparing strategies, as a pure function of its plan. Names identify a
 * section's operations: `alice/2/…` are those of alice's second section.
 */

import { indexTrace, type TraceIndex } from '../../src/check/trace-index.ts';
import type { Trace } from '../../src/core/history/trace.ts';
import { sectionOf } from '../../src/core/kernel/name.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { examine } from '../../src/harness.ts';

export interface RunMeasures {
  /** Acknowledged sections per virtual second. */
  readonly throughput: number;
  /** In milliseconds, from a section's first request to the answer that accepts its write. */
  readonly medianCommit: number;
  readonly slowestCommit: number;
  /** Attempts to acquire and to write after the first ones, per started section. */
  readonly retries: number;
  /** True if an acknowledged update was lost or applied twice. */
  readonly isWrong: boolean;
}

/** Measures a run of clients that increment counters; the plan has no probe. */
export function measureRun(plan: Plan): RunMeasures {
  const { trace, verdicts } = examine(plan, ['no-lost-update']);
  const indexed = indexTrace(trace);
  const sections = [...sectionsIn(indexed).values()];
  const commits = sections.flatMap(({ commitUs }) => (commitUs === null ? [] : [commitUs / 1000]));
  commits.sort((a, b) => a - b);
  const retries = sections.reduce((sum, section) => sum + section.retries, 0);
  return {
    throughput: (commits.length * 1_000_000) / doneUs(trace, indexed),
    medianCommit: commits[Math.floor(commits.length / 2)] ?? 0,
    slowestCommit: commits.at(-1) ?? 0,
    retries: retries / Math.max(1, sections.length),
    isWrong: verdicts[0]?.kind === 'invalid',
  };
}

interface SectionMeasures {
  readonly firstUs: number;
  commitUs: number | null;
  attempts: number;
  retries: number;
}

/** The first request of an attempt; requests to further servers, or later, have longer names. */
const ATTEMPT = /\/acquire(-round)?(-\d+)?$/;

function sectionsIn({ operations }: TraceIndex): ReadonlyMap<string, SectionMeasures> {
  const sections = new Map<string, SectionMeasures>();
  for (const [operation, { invoke, return: answer }] of operations) {
    const { call, atUs } = invoke.event;
    const name = sectionOf(operation);
    const section = sections.get(name) ?? {
      firstUs: atUs,
      commitUs: null,
      attempts: 0,
      retries: 0,
    };
    sections.set(name, section);
    if (call.verb === 'acquire' && ATTEMPT.test(operation)) {
      if (section.attempts > 0) section.retries += 1;
      section.attempts += 1;
    }
    if (call.verb !== 'write') continue;
    if (call.repeats !== undefined) section.retries += 1;
    const isAccepted = answer?.event.answer?.kind === 'accepted';
    if (isAccepted) section.commitUs = answer.event.atUs - section.firstUs;
  }
  return sections;
}

/** Returns the time when the last client was done, or of the world's healing if one is stuck. */
function doneUs({ events }: Trace, { operations }: TraceIndex): number {
  const crashes = events.flatMap((event, index) => {
    return event.kind === 'fault' && event.fault === 'crash' ? [{ ...event, index }] : [];
  });
  const isStuck = [...operations.values()].some(({ invoke, return: answer }) => {
    const { process } = invoke.event;
    return (
      answer === null &&
      !crashes.some(({ processes, index }) => index > invoke.index && processes.includes(process))
    );
  });
  const last = events.findLast(({ kind }) => {
    return kind === 'return' || kind === 'leave' || (isStuck && kind === 'healed');
  });
  return Math.max(1, last?.atUs ?? 0);
}
