/**
 * Counts the stages of clients at which each kind of fault fired. `hints.ts` turns the counts into
 * words.
 */
import { z } from 'zod';
import type { Invoke } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { sectionOf } from '../../core/kernel/name.ts';
import type { FaultKind } from '../../core/plan/fault.ts';

/**
 * Stages of a client, ordered by how close they are to a stale write. `server`: no client is
 * affected.
 */
const STAGES = [
  'server',
  'not-holding',
  'after-write',
  'reading',
  'before-access',
  'writing',
  'read-to-write',
] as const;

export type Position = (typeof STAGES)[number];

/** Number of times that a kind of fault fired, by stage. */
export type FaultStages = Readonly<Partial<Record<Position, number>>>;

export const faultStagesSchema: z.ZodType<FaultStages> = z.partialRecord(
  z.enum(STAGES),
  z.int().min(0),
);

/** Mutable counts, indexed by the position of the stage in `STAGES`. */
export type PositionCounts = number[];

export function faultStagesOf(counts: PositionCounts = []): FaultStages {
  const stages: { [position in Position]?: number } = {};
  STAGES.forEach((position, at) => {
    const count = counts[at] ?? 0;
    if (count > 0) stages[position] = count;
  });
  return stages;
}

export function mergeFaultStages(a: FaultStages, b: FaultStages): FaultStages {
  const both: { [position in Position]?: number } = {};
  for (const position of STAGES) {
    const count = (a[position] ?? 0) + (b[position] ?? 0);
    if (count > 0) both[position] = count;
  }
  return both;
}

/** Tracks the accesses of a client since its lock was granted, as far as the client knows. */
class Standing {
  private isHolding = false;
  private hasRead = false;
  private hasWritten = false;
  private underWay: Position | null = null;

  get position(): Position {
    if (!this.isHolding) return 'not-holding';
    if (this.underWay !== null) return this.underWay;
    if (this.hasRead) return 'read-to-write';
    return this.hasWritten ? 'after-write' : 'before-access';
  }

  enter(): void {
    this.isHolding = true;
    this.hasRead = false;
    this.hasWritten = false;
  }

  leave(): void {
    this.isHolding = false;
    this.underWay = null;
  }

  invoke(verb: string): void {
    if (verb === 'read') this.underWay = 'reading';
    if (verb === 'write') this.underWay = 'writing';
  }

  return(verb: string): void {
    this.underWay = null;
    this.hasRead = verb === 'read';
    if (verb === 'write') this.hasWritten = true;
  }
}

/** Counts the stage at which each fault of a run fired. Returns true if any fired. */
export function addFaultStages(counts: Map<FaultKind, PositionCounts>, trace: Trace): boolean {
  const { events, processes } = trace;
  let left = 0;
  for (const { kind } of events) if (kind === 'fault') left += 1;
  if (left === 0) return false;
  // By client, then by section.
  const standings = new Map<string, Map<string, Standing>>();
  for (const { name, role } of processes) {
    if (role === 'client') standings.set(name, new Map());
  }
  const standingIn = (process: string, section: string): Standing => {
    const sections = standings.get(process);
    const standing = sections?.get(section) ?? new Standing();
    sections?.set(section, standing);
    return standing;
  };
  const calls = new Map<string, Invoke>();
  for (const event of events) {
    switch (event.kind) {
      case 'enter':
        standingIn(event.process, event.section).enter();
        break;
      case 'leave':
        standingIn(event.process, event.section).leave();
        break;
      case 'invoke':
        if (!('store' in event.call)) break;
        calls.set(event.operation, event);
        standingIn(event.process, sectionOf(event.operation)).invoke(event.call.verb);
        break;
      case 'return': {
        const call = calls.get(event.operation)?.call;
        if (call === undefined) break;
        standingIn(event.process, sectionOf(event.operation)).return(call.verb);
        break;
      }
      case 'fault': {
        const ofKind = counts.get(event.fault) ?? STAGES.map(() => 0);
        counts.set(event.fault, ofKind);
        const position = positionOf(event.processes, standings);
        ofKind[position] = (ofKind[position] ?? 0) + 1;
        left -= 1;
        if (left === 0) return true;
      }
    }
  }
  return true;
}

/** Returns the index of the affected stage that is closest to a stale write. */
function positionOf(
  processes: readonly string[],
  standings: ReadonlyMap<string, ReadonlyMap<string, Standing>>,
): number {
  let nearest = 0;
  for (const name of processes) {
    const sections = standings.get(name);
    if (sections === undefined) continue;
    for (const position of [
      'not-holding',
      ...[...sections.values()].map((standing) => standing.position),
    ] as const) {
      nearest = Math.max(nearest, STAGES.indexOf(position));
    }
  }
  return nearest;
}
