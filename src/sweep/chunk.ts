/**
 * A chunk is a run of consecutive seeds of one system: a pure function of the scenario and the range,
 * so running one twice is harmless. Here a chunk is examined seed by seed and tallied.
 */
import { measureHolderOverlap } from '../check/measure.ts';
import { surveyTrace } from '../check/survey.ts';
import type { Examination } from '../harness.ts';
import type { FaultStrikes, Trace } from '../history/trace.ts';
import type { FaultKind } from '../plan/fault.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import {
  type ClaimTally,
  EMPTY_TALLY,
  type FaultTally,
  mergeTallies,
  type SeedFailure,
  type Tally,
} from './tally.ts';

/** Seeds `from` to `to`, both included; `skip` are left out because they hung or crashed a worker. */
export interface Chunk {
  readonly system: string;
  readonly from: number;
  readonly to: number;
  readonly skip: readonly number[];
}

/** What examines one seed; it may throw. */
export type Examiner = (system: string, seed: number) => Examination;

/** Examines a chunk; `onSeed` is told of each seed before it is begun. */
export function examineChunk(
  chunk: Chunk,
  expect: SystemScenario['expect'],
  examiner: Examiner,
  onSeed: (seed: number) => void,
): Tally {
  let tally = EMPTY_TALLY;
  const listed = new Set([...expect.holds, ...expect.breaks]);
  for (let seed = chunk.from; seed <= chunk.to; seed += 1) {
    if (chunk.skip.includes(seed)) continue;
    onSeed(seed);
    tally = mergeTallies(tally, tallyOf(chunk.system, seed, listed, examiner));
  }
  return tally;
}

function tallyOf(
  system: string,
  seed: number,
  listed: ReadonlySet<string>,
  examiner: Examiner,
): Tally {
  try {
    return tallySeed(seed, examiner(system, seed), listed);
  } catch (error) {
    return failureTally({ seed, error: error instanceof Error ? error.message : String(error) });
  }
}

/** The tally of one seed that could not be examined. */
export function failureTally(failure: SeedFailure): Tally {
  return { ...EMPTY_TALLY, seeds: 1, failures: [failure], failed: 1 };
}

function tallySeed(seed: number, examination: Examination, listed: ReadonlySet<string>): Tally {
  const { trace, verdicts } = examination;
  const claims: Record<string, ClaimTally> = {};
  let isBroken = false;
  let isUnknown = false;
  for (const verdict of verdicts) {
    const isInvalid = verdict.kind === 'invalid';
    const isOpen = verdict.kind === 'unknown';
    if (listed.has(verdict.claim)) {
      isBroken ||= isInvalid;
      isUnknown ||= isOpen;
    }
    claims[verdict.claim] = {
      broken: isInvalid ? 1 : 0,
      brokenSeeds: isInvalid ? [seed] : [],
      unknown: isOpen ? 1 : 0,
      whyUnknown: isOpen ? verdict.reason : '',
      exercised: verdict.exercised > 0 ? 1 : 0,
      times: verdict.exercised,
    };
  }
  const { ending } = trace;
  const failures =
    ending.kind === 'failed' ? [{ seed, error: `${ending.process}: ${ending.error}` }] : [];
  const overlap = measureHolderOverlap(surveyTrace(trace));
  return {
    seeds: 1,
    events: trace.events.length,
    broken: isBroken ? 1 : 0,
    unknown: isUnknown ? 1 : 0,
    claims,
    faults: faultTallies(trace),
    overlap: { seeds: overlap.times > 0 ? 1 : 0, longestUs: overlap.longestUs },
    failures,
    failed: failures.length,
  };
}

/** Which kinds of fault struck, and which of them while the service held a grant to be live. */
function faultTallies(trace: Trace): Partial<Record<FaultKind, FaultTally>> {
  const tallies: Partial<Record<FaultKind, FaultTally>> = {};
  const liveUntilUs = new Map<string, number>();
  for (const event of trace.events) {
    switch (event.kind) {
      case 'grant':
        liveUntilUs.set(event.lock, event.untilUs ?? Number.POSITIVE_INFINITY);
        break;
      case 'renew':
        if (event.extended !== 0) {
          liveUntilUs.set(event.lock, event.untilUs ?? Number.POSITIVE_INFINITY);
        }
        break;
      case 'release':
        if (event.released !== 0) liveUntilUs.delete(event.lock);
        break;
      case 'fault': {
        const overlapped = meetsGrant(event, liveUntilUs) ? 1 : 0;
        const before = tallies[event.fault]?.overlapped ?? 0;
        tallies[event.fault] = { fired: 1, overlapped: Math.max(before, overlapped) };
        break;
      }
    }
  }
  return tallies;
}

function meetsGrant(strike: FaultStrikes, liveUntilUs: ReadonlyMap<string, number>): boolean {
  for (const untilUs of liveUntilUs.values()) if (untilUs > strike.atUs) return true;
  return false;
}
