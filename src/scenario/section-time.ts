/**
 * How long a section takes when nothing goes wrong and every message takes its longest, so that a
 * scenario can say when its work does not fit its lease, and when the world may heal.
 */
import type { ReadStep } from '../core/plan/work-text.ts';
import type { ClientScenario, Workload } from './scenario.ts';

export interface SectionTime {
  /** From the acquire's sending to the handling of the last access that needs the lease. */
  readonly leasedUs: number;
  /** From the first attempt to the end of the section. */
  readonly wholeUs: number;
}

/** `opens` says whether the store is told of the token before its first use. */
export function sectionTime(
  client: ClientScenario,
  { latencyUs, opens }: { readonly latencyUs: number; readonly opens: boolean },
): SectionTime {
  const roundTrip = 2 * latencyUs;
  let nowUs = roundTrip + (opens ? roundTrip : 0);
  let leaseFromUs = 0;
  let longestUs = 0;
  for (const step of stepsOf(client.workload)) {
    const tookUs = stepUs(step, latencyUs);
    // A round trip's way back needs no lease; the way there does.
    if (step.kind !== 'compute') {
      longestUs = Math.max(
        longestUs,
        nowUs + Math.max(tookUs, roundTrip) - latencyUs - leaseFromUs,
      );
    }
    if (step.kind === 'renew') leaseFromUs = nowUs;
    nowUs += tookUs;
  }
  const endUs = nowUs + roundTrip;
  const { ttlUs, releases } = client.settings;
  return { leasedUs: longestUs, wholeUs: releases ? endUs : Math.max(endUs, ttlUs + latencyUs) };
}

type Timed =
  | Exclude<ReadStep, { readonly kind: 'memoize' }>
  | { readonly kind: 'write'; readonly awaits: boolean };

/** The steps of one section, as far as their time goes. */
function stepsOf(workload: Workload): readonly Timed[] {
  const { kind, writesPerGrant, awaits, steps } = workload;
  if (kind === 'steps') return steps.flatMap(timedOf);
  const one: Timed =
    kind === 'blind-writes'
      ? { kind: 'write', awaits }
      : kind === 'read-modify-write'
        ? { kind: 'increment', ...{ id: 1, store: undefined, key: undefined, by: undefined } }
        : {
            kind: 'transfer',
            ...{ id: 1, from: undefined, to: undefined, key: undefined, amount: undefined },
          };
  return Array.from({ length: writesPerGrant }, () => one);
}

/** A memoize reads twice, and writes; of several pieces each has a write and a renew of its own. */
function timedOf(step: ReadStep): readonly Timed[] {
  if (step.kind !== 'memoize') return [step];
  const { id, forUs, pieces = 1, store, key } = step;
  const read = { kind: 'read', id, store, key } as const;
  const compute = { kind: 'compute', id, forUs } as const;
  const write = { kind: 'write', awaits: true } as const;
  if (pieces === 1) return [read, read, compute, write];
  const piece = [compute, write, { kind: 'renew', id, ttlUs: undefined }] as const;
  return [read, read, ...Array.from({ length: pieces }, () => piece).flat(), write];
}

function stepUs(step: Timed, latencyUs: number): number {
  switch (step.kind) {
    case 'write':
      return step.awaits === false ? 0 : 2 * latencyUs;
    case 'increment':
      return 4 * latencyUs;
    case 'transfer':
      return 8 * latencyUs;
    case 'compute':
    case 'job':
    case 'transition':
      return step.forUs;
    default:
      return 2 * latencyUs;
  }
}
