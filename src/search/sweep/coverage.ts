/**
 * Counts, per seed, whether several clients held a lock and whether data changed. Without these
 * counts, a lock that admits one client, or a store that keeps nothing, would meet every hazard and
 * break no claim.
 */
import type { Trace } from '../../core/history/trace.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { sectionOf } from '../../core/kernel/name.ts';
import type { Plan, SectionPlan } from '../../core/plan/plan.ts';
import { ASKS } from './sections.ts';

/** All fields count seeds. */
export interface CoverageCounts {
  /**
   * Several clients requested one lock. Excludes memoize requests, since one client memoizes for
   * all.
   */
  readonly contested: number;
  /** Several clients held one lock, one after the other or simultaneously. */
  readonly shared: number;
  /** Clients were supposed to write. */
  readonly toWrite: number;
  /** A store accepted a write of a client. */
  readonly written: number;
  /** A key was read after a store had accepted a write to it. */
  readonly readAfter: number;
  /** Such a read returned the value of an accepted write. */
  readonly readBack: number;
}

export const NO_COVERAGE: CoverageCounts = {
  contested: 0,
  shared: 0,
  toWrite: 0,
  written: 0,
  readAfter: 0,
  readBack: 0,
};

export function mergeCoverage(a: CoverageCounts, b: CoverageCounts): CoverageCounts {
  return {
    contested: a.contested + b.contested,
    shared: a.shared + b.shared,
    toWrite: a.toWrite + b.toWrite,
    written: a.written + b.written,
    readAfter: a.readAfter + b.readAfter,
    readBack: a.readBack + b.readBack,
  };
}

/**
 * Returns the reasons why the claims that held were not really exercised. `isOneEnough`: the claims
 * may hold because one client does the work for all. `isWriting`: the store should contain data.
 */
export function nothingAtStake(
  coverage: CoverageCounts,
  { isOneEnough, isWriting }: { readonly isOneEnough: boolean; readonly isWriting: boolean },
): readonly string[] {
  const { contested, shared, toWrite, written, readAfter, readBack } = coverage;
  const isLone = contested > 0 && shared === 0 && !isOneEnough;
  return [
    ...(isLone ? ['no second client ever acquired a lock'] : []),
    ...(toWrite > 0 && written === 0 && isWriting ? ['no write was ever accepted'] : []),
    ...(readAfter > 0 && readBack === 0 ? ['no accepted write was ever read back'] : []),
  ];
}

/** Adds the coverage of one seed: 1 or 0 to each field. */
export function addCoverage(counts: Draft<CoverageCounts>, plan: Plan, trace: Trace): void {
  const asking = new Clients();
  const having = new Clients();
  const written = new Map<string, Set<number>>();
  const probes = new Set<string>();
  for (const { name, role } of trace.processes) if (role === 'probe') probes.add(name);
  const several = new Set<string>();
  for (const { name, concurrency } of plan.clients)
    if (concurrency !== undefined) several.add(name);
  let accepted = 0;
  let readAfter = 0;
  let readBack = 0;
  for (const event of trace.events) {
    switch (event.kind) {
      case 'invoke':
        if (!('lock' in event.call) || !ASKS.has(event.call.verb)) break;
        if (probes.has(event.process)) break;
        asking.add(
          event.call.lock,
          several.has(event.process) ? sectionOf(event.operation) : event.process,
        );
        break;
      case 'enter':
        if (probes.has(event.process)) break;
        having.add(event.lock, several.has(event.process) ? event.section : event.process);
        break;
      case 'write': {
        if (!event.isAccepted || event.value === null) break;
        if (!probes.has(event.client)) accepted = 1;
        if (readBack === 1) break;
        const place = placeOf(event);
        const values = written.get(place);
        if (values === undefined) written.set(place, new Set([event.value]));
        else values.add(event.value);
        break;
      }
      case 'read': {
        if (readBack === 1 || event.value === null) break;
        const values = written.get(placeOf(event));
        if (values === undefined) break;
        readAfter = 1;
        if (values.has(event.value)) readBack = 1;
      }
    }
  }
  if (asking.areSeveral) {
    const isMemoizing = plan.clients.some(({ sections }) => {
      return sections.some(({ work }) => work[0]?.kind === 'memoize');
    });
    if (!isMemoizing) counts.contested += 1;
  }
  if (having.areSeveral) counts.shared += 1;
  if (plan.clients.some(({ sections }) => sections.some(isToWrite))) counts.toWrite += 1;
  counts.written += accepted;
  counts.readAfter += readAfter;
  counts.readBack += readBack;
}

class Clients {
  areSeveral = false;
  private readonly firsts: Map<string, string> = new Map();

  add(lock: string, client: string): void {
    if (this.areSeveral) return;
    const first = this.firsts.get(lock);
    if (first === undefined) this.firsts.set(lock, client);
    else if (first !== client) this.areSeveral = true;
  }
}

function placeOf(access: { readonly process: string; resource: string; key: string }): string {
  return `${access.process} ${access.resource} ${access.key}`;
}

function isToWrite({ work }: SectionPlan): boolean {
  return work.some(({ kind }) => kind === 'write' || kind === 'increment' || kind === 'transfer');
}
