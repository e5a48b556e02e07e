/**
 * Examines a chunk, a range of consecutive seeds of one system, and adds up the results. A chunk is
 * a pure function of the scenario and the range, so running it twice is harmless.
 */
import { changesOfLocks } from '../../check/lock-keys.ts';
import { indexTrace, type TraceIndex } from '../../check/trace-index.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { operationOf } from '../../core/kernel/name.ts';
import type { FaultKind } from '../../core/plan/fault.ts';
import { failureText } from '../../core/world/failure.ts';
import type { SeedResult } from '../../harness.ts';
import { walked } from '../../host/async/walk.ts';
import { BLOCK_SEEDS } from '../../host/realm/realm-blocks.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import { errorText, truncateText } from '../../text/error-text.ts';
import type { PlanBlock } from '../exhaust/placements.ts';
import { type CauseCounts, mergeCauses } from './causes.ts';
import {
  type ClaimCounts,
  type FaultCounts,
  KEPT_BROKEN,
  KEPT_SEEDS,
  mergeCounts,
  NO_COUNTS,
  type SeedFailure,
  type SweepCounts,
} from './counts.ts';
import { addCoverage, type CoverageCounts, NO_COVERAGE } from './coverage.ts';
import { addFaultStages, faultStagesOf, type PositionCounts } from './fault-positions.ts';
import { addLeases, type LeaseCounts, NO_LEASES } from './leases.ts';
import { SectionCounter } from './sections.ts';
import type { SeedRange } from './shards.ts';
import { ALL_SIMULATED, mergeUnsimulated, type UnsimulatedCounts } from './unsimulated.ts';

/**
 * A range of seeds, both ends inclusive. The seeds in `skip`, which hung or crashed a worker, are
 * left out.
 */
export interface Chunk extends SeedRange {
  readonly system: string;
  readonly skip: readonly number[];
  /** True if the system reuses realms. Default: false. */
  readonly isReusing?: boolean;
  /** True if the system runs user code, which may change shared state. Default: false. */
  readonly isWalked?: boolean;
  /** The blocks that contain these plans, in an exhaustive search. Absent for seeds. */
  readonly planBlocks?: readonly PlanBlock[];
}

/** A range that was examined earlier. */
export interface FinishedRange extends SeedRange {
  readonly system: string;
}

/** Examines one seed. May throw or reject. Returns a promise only if it has to wait. */
export type Examiner = (
  system: string,
  seed: number,
  passing?: Passing,
) => SeedResult | Promise<SeedResult>;

/** Options for a system that reuses realms. The earlier seeds of a block must be run first. */
export interface Passing {
  readonly skip: readonly number[];
  /** Called when an earlier seed of the block starts. */
  readonly onPass: () => void;
  /** Called with a description if reused and new realms give different results. */
  readonly onDifference: (description: string) => void;
}

/** A seed for which reused and new realms give different results. */
export interface ReuseDifference {
  readonly seed: number;
  readonly what: string;
}

type Expected = Pick<SystemScenario['expect'], 'holds' | 'breaks'>;

/**
 * Examines a chunk. Calls `onSeed` with each seed before it starts. The earlier seeds of its block
 * are run first and reported as numbers between `seed - 1` and `seed`. If user code changed shared
 * state, the block is examined again (`walked`), so that no seed affects the result of another.
 */
export async function examineChunk(
  chunk: Chunk,
  expect: Expected,
  examiner: Examiner,
  onSeed: (seed: number) => void,
  onDifference: (difference: ReuseDifference) => void = () => {},
): Promise<SweepCounts> {
  if (chunk.isWalked !== true) return examinePart(chunk, expect, examiner, onSeed, onDifference);
  let counts = NO_COUNTS;
  for (let { from } = chunk; from <= chunk.to; ) {
    const to = Math.min(chunk.to, from - (from % BLOCK_SEEDS) + BLOCK_SEEDS - 1);
    let differences: ReuseDifference[] = [];
    const part = await walked(() => {
      differences = [];
      const note = (difference: ReuseDifference): void => void differences.push(difference);
      return examinePart({ ...chunk, from, to }, expect, examiner, onSeed, note);
    });
    differences.forEach(onDifference);
    counts = mergeCounts(counts, part);
    from = to + 1;
  }
  return counts;
}

async function examinePart(
  chunk: Chunk,
  expect: Expected,
  examiner: Examiner,
  onSeed: (seed: number) => void,
  onDifference: (difference: ReuseDifference) => void,
): Promise<SweepCounts> {
  const count = new Count(new Set([...expect.holds, ...expect.breaks]));
  for (let seed = chunk.from; seed <= chunk.to; seed += 1) {
    if (chunk.skip.includes(seed)) continue;
    onSeed(seed);
    let passed = 1;
    const onPass = (): void => {
      passed += 1;
      onSeed(seed - 1 / passed);
    };
    try {
      const passing = {
        skip: chunk.skip,
        onPass,
        onDifference: (what: string): void => onDifference({ seed, what }),
      };
      const result = examiner(chunk.system, seed, passing);
      count.add(seed, result instanceof Promise ? await result : result);
    } catch (error) {
      count.fail({ seed, error: errorText(error) });
    }
  }
  return count.counts();
}

/** Returns the counts of one seed that was killed. */
export function countsOfKilled({ seed, error }: SeedFailure): SweepCounts {
  const failures = [{ seed, error: truncateText(error) }];
  return { ...NO_COUNTS, seeds: 1, failures, failed: 1, killed: 1 };
}

/** Accumulates counts. Seeds must be added in ascending order. */
class Count {
  private readonly listed: ReadonlySet<string>;
  private readonly sums: Draft<
    Pick<SweepCounts, 'seeds' | 'events' | 'broken' | 'unknown' | 'failed'>
  > = { seeds: 0, events: 0, broken: 0, unknown: 0, failed: 0 };
  private readonly overlap: Draft<SweepCounts['overlap']> = { ...NO_COUNTS.overlap };
  private readonly losses: Draft<SweepCounts['losses']> = { ...NO_COUNTS.losses };
  private readonly stampede: Draft<SweepCounts['stampede']> = { ...NO_COUNTS.stampede };
  private readonly sections: SectionCounter = new SectionCounter();
  private readonly coverage: Draft<CoverageCounts> = { ...NO_COVERAGE };
  private readonly leases: Draft<LeaseCounts> = { ...NO_LEASES };
  private unsimulated: UnsimulatedCounts = ALL_SIMULATED;
  private readonly failures: SeedFailure[] = [];
  private readonly claims: Map<string, Draft<ClaimCounts>> = new Map();
  private readonly breaches: Map<string, CauseCounts[]> = new Map();
  private readonly faults: Map<FaultKind, Draft<Omit<FaultCounts, 'strikes'>>> = new Map();
  private readonly stages: Map<FaultKind, PositionCounts> = new Map();

  constructor(listed: ReadonlySet<string>) {
    this.listed = listed;
  }

  add(seed: number, examined: SeedResult): void {
    const { plan, trace, verdicts, overlap, losses, stampede } = examined;
    const { sums } = this;
    sums.seeds += 1;
    sums.events += trace.events.length;
    let isBroken = false;
    let isUnknown = false;
    for (const verdict of verdicts) {
      this.addVerdict(seed, verdict, examined);
      if (verdict.kind === 'valid' || !this.listed.has(verdict.claim)) continue;
      if (verdict.kind === 'invalid') isBroken = true;
      else isUnknown ||= trace.ending.kind !== 'failed';
    }
    if (isBroken) sums.broken += 1;
    if (isUnknown) sums.unknown += 1;
    const indexed = indexTrace(trace);
    this.addFaults(indexed);
    this.sections.add(seed, plan, trace);
    const refused = trace.unsimulated?.map((entry) => ({ ...entry, firstSeed: seed })) ?? [];
    this.unsimulated = mergeUnsimulated(this.unsimulated, { found: refused, others: 0 });
    addCoverage(this.coverage, plan, trace);
    addLeases(this.leases, indexed, seed);
    if (overlap.times > 0) this.overlap.seeds += 1;
    this.overlap.longestUs = Math.max(this.overlap.longestUs, overlap.longestUs);
    if (losses.times > 0) this.losses.seeds += 1;
    this.losses.longestUs = Math.max(this.losses.longestUs, losses.longestUs);
    if (stampede.most > 1) this.stampede.seeds += 1;
    this.stampede.computations += stampede.computations;
    this.stampede.most = Math.max(this.stampede.most, stampede.most);
    const { ending } = trace;
    if (ending.kind === 'failed') this.keepFailure({ seed, error: failureText(ending) });
  }

  /** Adds a seed that could not be examined. */
  fail(failure: SeedFailure): void {
    this.sums.seeds += 1;
    this.keepFailure(failure);
  }

  private keepFailure({ seed, error }: SeedFailure): void {
    this.sums.failed += 1;
    if (this.failures.length < KEPT_SEEDS) this.failures.push({ seed, error: truncateText(error) });
  }

  private addVerdict(
    seed: number,
    verdict: SeedResult['verdicts'][number],
    { causes, trace }: Pick<SeedResult, 'causes' | 'trace'>,
  ): void {
    let claim = this.claims.get(verdict.claim);
    if (claim === undefined) {
      claim = {
        broken: 0,
        brokenSeeds: [],
        unknown: 0,
        firstUnknown: null,
        exercised: 0,
        times: 0,
      };
      this.claims.set(verdict.claim, claim);
    }
    claim.times += verdict.exercised;
    if (verdict.exercised > 0) claim.exercised += 1;
    if (verdict.kind === 'invalid') {
      claim.broken += 1;
      if (claim.broken <= KEPT_BROKEN) claim.brokenSeeds = [...claim.brokenSeeds, seed];
      const cause = causes.get(verdict.claim);
      if (cause !== undefined && this.listed.has(verdict.claim)) {
        const breaches = this.breaches.get(verdict.claim) ?? [];
        this.breaches.set(verdict.claim, breaches);
        breaches.push({ cause, broken: 1, brokenSeeds: [seed] });
      }
    } else if (verdict.kind === 'unknown' && trace.ending.kind !== 'failed') {
      claim.unknown += 1;
      claim.firstUnknown ??= { seed, reason: truncateText(verdict.reason) };
    }
  }

  private addFaults(indexed: TraceIndex): void {
    if (!addFaultStages(this.stages, indexed.trace)) return;
    for (const [kind, met] of faultsThatFired(indexed)) {
      const fault = this.faults.get(kind) ?? { fired: 0, overlapped: 0 };
      this.faults.set(kind, fault);
      fault.fired += 1;
      if (met) fault.overlapped += 1;
    }
  }

  counts(): SweepCounts {
    const { sums, overlap, losses, stampede, failures } = this;
    for (const [name, claim] of this.claims) {
      const breaches = this.breaches.get(name);
      if (breaches !== undefined) claim.causes = mergeCauses([], breaches);
    }
    const claims = Object.fromEntries(this.claims);
    const faults: Draft<SweepCounts['faults']> = {};
    for (const [kind, { fired, overlapped }] of this.faults) {
      faults[kind] = { fired, overlapped, strikes: faultStagesOf(this.stages.get(kind)) };
    }
    const sections = this.sections.counts();
    const { coverage, leases, unsimulated } = this;
    const measured = { overlap, losses, stampede };
    const counted = { sections, coverage, leases, unsimulated };
    return { ...sums, claims, faults, ...measured, ...counted, failures, killed: 0 };
  }
}

/**
 * Returns the kinds of fault that fired. The value is true if such a fault fired while a grant was
 * live, or lasted until a grant was made. A wrong clock lasts forever.
 *
 * After a client leaves its section, its lock counts as held while its key exists. Without reported
 * keys, it counts as held until the release is answered. If no client requests a lock, a fault
 * counts if a store was accessed later.
 */
function faultsThatFired(indexed: TraceIndex): ReadonlyMap<FaultKind, boolean> {
  const { trace } = indexed;
  return hasLock(trace) ? faultsUnderGrants(indexed) : faultsBeforeAccesses(trace);
}

function hasLock({ events }: Trace): boolean {
  for (const event of events) {
    if (event.kind === 'grant' || (event.kind === 'invoke' && 'lock' in event.call)) return true;
  }
  return false;
}

function faultsBeforeAccesses({ events }: Trace): ReadonlyMap<FaultKind, boolean> {
  const fired = new Map<FaultKind, boolean>();
  for (const event of events) {
    if (event.kind === 'fault') fired.set(event.fault, fired.get(event.fault) ?? false);
    else if (event.kind === 'read' || event.kind === 'write') {
      for (const kind of fired.keys()) fired.set(kind, true);
    }
  }
  return fired;
}

function faultsUnderGrants(indexed: TraceIndex): ReadonlyMap<FaultKind, boolean> {
  const ofLocks = new Set(changesOfLocks(indexed).map(({ event }) => event));
  const fired = new Map<FaultKind, boolean>();
  const lastsUntilUs = new Map<FaultKind, number>();
  const liveUntilUs = new Map<string, number>();
  const leftUntilUs = new Map<string, number>();
  const hold = (name: string, atUs: number, untilUs: number | null): void => {
    for (const [kind, endUs] of lastsUntilUs) if (endUs > atUs) fired.set(kind, true);
    liveUntilUs.set(name, untilUs ?? Number.POSITIVE_INFINITY);
  };
  for (const event of indexed.trace.events) {
    switch (event.kind) {
      case 'grant':
        hold(event.lock, event.atUs, event.untilUs);
        break;
      case 'renew':
        if (event.extended === 0) break;
        liveUntilUs.set(event.lock, event.untilUs ?? Number.POSITIVE_INFINITY);
        break;
      case 'release':
        if (event.released === 0) break;
        if (event.process === event.client) {
          leftUntilUs.set(event.lock, liveUntilUs.get(event.lock) ?? 0);
        }
        liveUntilUs.delete(event.lock);
        break;
      case 'key-change': {
        const name = `${event.process} ${event.key}`;
        if (!event.isDone || !ofLocks.has(event)) break;
        if (event.change === 'removed' || event.change === 'lost') {
          // The client knows of the removal when it gets the answer.
          if (event.change === 'removed' && event.client === event.holder) {
            liveUntilUs.set(operationOf(event.message), liveUntilUs.get(name) ?? 0);
          }
          liveUntilUs.delete(name);
        } else hold(name, event.atUs, event.untilUs);
        break;
      }
      case 'invoke':
        if (event.call.verb !== 'release') break;
        liveUntilUs.set(event.operation, leftUntilUs.get(event.call.lock) ?? 0);
        break;
      case 'return':
        if (event.outcome === 'ok') liveUntilUs.delete(event.operation);
        break;
      case 'fault': {
        let met = false;
        for (const untilUs of liveUntilUs.values()) met ||= untilUs > event.atUs;
        fired.set(event.fault, met || fired.get(event.fault) === true);
        const endUs = event.fault === 'clock' ? Number.POSITIVE_INFINITY : (event.untilUs ?? 0);
        lastsUntilUs.set(event.fault, Math.max(endUs, lastsUntilUs.get(event.fault) ?? 0));
        break;
      }
    }
  }
  return fired;
}
