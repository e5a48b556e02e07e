/**
 * Determines what keeps a lock from other clients at the end of a run, from the ledgers of grants,
 * keys and renewals: who holds it, how often it was renewed, whether the section that took it still
 * runs, and whether sections wait for each other in a circle.
 */
import type { Deny, Grant, KeyChange } from '../core/history/events.ts';
import type { SectionEnd, SectionRun } from '../core/history/trace.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { isHeldAt } from './leases.ts';
import { isDenial } from './lock-keys.ts';
import type { Numbered, TraceIndex } from './trace-index.ts';

/** A grant, or a key by the command that took it. */
type Held = Numbered<Grant | KeyChange>;

/** A section that waits for what another section holds. */
export interface WaitForHolder {
  readonly denial: Numbered<Deny | KeyChange>;
  readonly held: Held;
  readonly holder: SectionRun;
}

/** Returns the waits of a circle among unfinished sections, or an empty list. */
export function circleAmong(
  indexed: TraceIndex,
  open: readonly SectionRun[],
): readonly WaitForHolder[] {
  for (const first of open) {
    const sections: SectionRun[] = [];
    const waits: WaitForHolder[] = [];
    for (let run: SectionRun | undefined = first; run !== undefined; ) {
      if (run === first && waits.length > 0) return waits;
      if (sections.includes(run)) break;
      sections.push(run);
      const wait = waitOf(indexed, open, run);
      if (wait === null) break;
      waits.push(wait);
      run = wait.holder;
    }
  }
  return [];
}

/** Returns the last denial of a section, if another unfinished section keeps what it asked for. */
function waitOf(
  indexed: TraceIndex,
  open: readonly SectionRun[],
  { process, section, beganUs }: SectionRun,
): WaitForHolder | null {
  const { keyChanges, locks, trace } = indexed;
  const atEnd = { index: trace.events.length, atUs: trace.events.at(-1)?.atUs ?? 0 };
  const denial = keyChanges.findLast(
    ({ event }) => isDenial(event) && sectionOf(event.message) === section,
  );
  if (denial !== undefined) {
    const { process: server, key, taking } = denial.event;
    const held = keyChanges.findLast(
      ({ event: { process: by, key: taken, change, isDone, message } }) =>
        by === server && taken === key && change === 'taken' && isDone && message === taking,
    );
    const holder = open.find((run) => run.section === sectionOf(denial.event.taking));
    if (held === undefined || holder === undefined || !isKeyKept(indexed, held.event)) return null;
    return { denial, held, holder };
  }
  for (const { entries, byNumber } of locks.values()) {
    for (const { event, index } of entries.toReversed()) {
      if (event.kind !== 'deny' || event.client !== process || event.atUs < beganUs) continue;
      const held = byNumber.get(event.holderOrdinal);
      const holder = open.find((run) => run.process === event.holder);
      if (held === undefined || holder === undefined || !isHeldAt(held, atEnd)) break;
      return { denial: { event, index }, held, holder };
    }
  }
  return null;
}

/** Returns true if the key that a command took is still kept by it at the end of the run. */
function isKeyKept(
  { keyChanges, trace }: TraceIndex,
  { process, key, message }: KeyChange,
): boolean {
  const last = keyChanges.findLast(
    ({ event }) => event.isDone && event.process === process && event.key === key,
  );
  if (last === undefined) return false;
  const { taking, change, untilUs } = last.event;
  const endUs = trace.events.at(-1)?.atUs ?? 0;
  return taking === message && change !== 'removed' && (untilUs === null || untilUs > endUs);
}

/** The renewals of a lock, and its holder's section. */
export interface Keeping {
  readonly renewals: number;
  readonly lastUs: number;
  /** The end of the section that took the lock, or null if it is unknown. */
  readonly end: SectionEnd | null;
}

/** Returns how a grant is kept, or the key of a change. */
export function keepingOf(indexed: TraceIndex, held: Grant | KeyChange): Keeping {
  const { keyChanges, locks, trace } = indexed;
  const isRenewal = ({ event }: Numbered<KeyChange>): boolean =>
    held.kind === 'key-change' &&
    event.change === 'prolonged' &&
    event.isDone &&
    event.process === held.process &&
    event.key === held.key &&
    event.taking === held.taking;
  const grant =
    held.kind === 'grant' ? locks.get(held.lock)?.byNumber.get(held.ordinal) : undefined;
  const renewals =
    held.kind === 'grant'
      ? (grant?.changes ?? []).filter(({ event }) => event.kind === 'renew')
      : keyChanges.filter(isRenewal);
  const entry = trace.events[grant?.enteredAt ?? -1];
  const message = held.kind === 'grant' ? held.message : held.taking;
  const section = entry?.kind === 'enter' ? entry.section : sectionOf(message);
  const run = trace.sections?.find((one) => one.section === section);
  return {
    renewals: renewals.length,
    lastUs: renewals.at(-1)?.event.atUs ?? 0,
    end: run?.end ?? null,
  };
}
