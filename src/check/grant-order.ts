/**
 * Judges `grant-order`: the holders might as well have taken turns. The accepted writes are
 * replayed section after section in grant order, within a section as issued; every value that a
 * program read and every final value must come out of it. A late blind write that arrives before
 * its successor's first access is therefore legal. Keys that somebody writes under no grant are out
 * of its scope.
 *
 * Exercised: accesses, accepted or refused, under a grant that was no longer the latest of its
 * lock; and, since a grant that never expires cannot become stale, acquires that such a grant
 * denied or that superseded it.
 */
import { accessBreach } from './access-breach.ts';
import { type Breach, conclude } from './conclude.ts';
import {
  contentsBefore,
  type EffectiveWrite,
  finalContents,
  firstValue,
  isEffective,
} from './contents.ts';
import { unheardReads } from './heard-reads.ts';
import { isReleasedBefore } from './lease-end.ts';
import {
  type Access,
  type Entry,
  isStale,
  type KeyLog,
  type LockLog,
  type Place,
  type Survey,
} from './survey.ts';
import type { Verdict } from './verdict.ts';

type WriteEntry = Entry<EffectiveWrite>;

/** "Replaying what took effect, one section after the other in grant order, yields every value." */
export function grantOrder(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  const unheard = unheardReads(survey);
  for (const lock of survey.locks.values()) exercised += contestedForEver(lock);
  for (const place of survey.places) {
    for (const access of place.accesses) if (isStale(access)) exercised++;
    for (const key of place.keys.values()) breach ??= breachOf(survey, place, { key, unheard });
  }
  return conclude('grant-order', { exercised, breach });
}

/** Acquires handled while a grant without end was held. */
function contestedForEver(lock: LockLog): number {
  let contested = 0;
  for (const { event, latest, index } of lock.entries) {
    if (event.kind !== 'deny' && event.kind !== 'grant') continue;
    if (latest === null || latest.event.untilUs !== null) continue;
    if (event.kind === 'deny' || !isReleasedBefore(latest, index)) contested++;
  }
  return contested;
}

function breachOf(
  survey: Survey,
  place: Place,
  { key, unheard }: { readonly key: KeyLog; readonly unheard: ReadonlySet<Access> },
): Breach | null {
  const replay = replayOf(key);
  if (replay === null) return null;
  for (const access of key.accesses) {
    const { event } = access;
    if (event.kind !== 'read' || event.value === null || event.under === 0) continue;
    if (unheard.has(event)) continue;
    const expected = lastBefore(replay, event);
    if (event.value === (expected?.event.value ?? firstValue(place, key.key))) continue;
    return breachAtRead(survey, { place, key, expected, read: access });
  }
  return survey.isComplete ? breachAtEnd(survey, { place, key, expected: replay.at(-1) }) : null;
}

/**
 * The key's effective writes as if holders had taken turns; null when one was made under no grant.
 */
function replayOf(key: KeyLog): readonly WriteEntry[] | null {
  const replay: WriteEntry[] = [];
  let last: WriteEntry | null = null;
  let isInOrder = true;
  for (const access of key.accesses) {
    if (!isEffective(access)) continue;
    if (access.event.under === 0) return null;
    if (last !== null && comesBefore(access.event, last.event)) isInOrder = false;
    replay.push(access);
    last = access;
  }
  return isInOrder ? replay : replay.sort(orderOfWrites);
}

function comesBefore(one: Access, other: Access): boolean {
  return one.under === other.under ? one.issue < other.issue : one.under < other.under;
}

function orderOfWrites(one: WriteEntry, other: WriteEntry): number {
  const { event: a } = one;
  const { event: b } = other;
  return a.under - b.under || a.issue - b.issue || one.index - other.index;
}

/** The last write of the replay that comes before `read` in it. */
function lastBefore(replay: readonly WriteEntry[], read: Access): WriteEntry | undefined {
  let from = 0;
  let to = replay.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const write = replay[middle];
    if (write !== undefined && comesBefore(write.event, read)) from = middle + 1;
    else to = middle;
  }
  return replay[from - 1];
}

interface Mismatch {
  readonly place: Place;
  readonly key: KeyLog;
  /** The write whose value the replay leaves there; undefined for the initial value. */
  readonly expected: WriteEntry | undefined;
}

/**
 * Why a read did not see what the replay holds: what it missed, or what it should not have seen.
 */
function breachAtRead(
  survey: Survey,
  { place, key, expected, read }: Mismatch & { readonly read: Entry<Access> },
): Breach {
  if (expected !== undefined && expected.index > read.index) {
    if (expected.event.under === read.event.under) {
      return accessBreach(survey, 'read-before-own-write', {
        accesses: [
          ['early read', read],
          ['late write', expected],
        ],
        late: expected,
      });
    }
    return accessBreach(survey, 'write-after-read', {
      accesses: [
        ['later read', read],
        ['stale write', expected],
      ],
      late: expected,
    });
  }
  const { write, value } = contentsBefore(place, key, read.index);
  if (value !== read.event.value) {
    return accessBreach(survey, 'wrong-value', {
      accesses: [
        ['write', write],
        ['read', read],
      ],
      late: null,
    });
  }
  if (write !== null && comesBefore(read.event, write.event)) {
    const isSameSection = write.event.under === read.event.under;
    return accessBreach(survey, isSameSection ? 'read-of-own-later' : 'read-of-later', {
      accesses: [
        ['later write', write],
        [isSameSection ? 'late read' : 'stale read', read],
      ],
      late: read,
    });
  }
  return breachByOverwriting(survey, { place, key, expected }, read);
}

function breachAtEnd(survey: Survey, mismatch: Mismatch): Breach | null {
  const { place, key, expected } = mismatch;
  const { value } = finalContents(place, key);
  if (value === (expected?.event.value ?? firstValue(place, key.key))) return null;
  return breachByOverwriting(survey, mismatch, null);
}

/** The expected value had been there, and was gone when `read` came, or at the end. */
function breachByOverwriting(
  survey: Survey,
  { place, key, expected }: Mismatch,
  read: Entry<Access> | null,
): Breach {
  const { write, recovery } = contentsBefore(place, key, read?.index ?? Number.POSITIVE_INFINITY);
  if (write === null) {
    return accessBreach(survey, 'lost-in-recovery', {
      accesses: [
        ['lost write', expected],
        ['read', read],
      ],
      late: null,
      others: [['recovery', recovery]],
    });
  }
  const isSameSection = write.event.under === (expected ?? write).event.under;
  return accessBreach(survey, isSameSection ? 'issue-order' : 'stale-write', {
    accesses: [
      [isSameSection ? 'newer write' : 'later write', expected],
      [isSameSection ? 'older write' : 'stale write', write],
      ['read', read],
    ],
    late: write,
  });
}
