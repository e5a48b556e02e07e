/**
 * Judges `holder-overlap`, which no lease can promise once a process may pause: it is a claim only
 * where pauses, partitions and bad clocks are excluded, and a measurement everywhere else.
 *
 * Exercised: grants that reached a program, while another program had once held the same lock.
 */
import { causesSince } from './causes.ts';
import { type Breach, conclude, evidenceOf } from './conclude.ts';
import { overlapsOf } from './measure.ts';
import type { Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "At most one client believes it holds the lock." */
export function holderOverlap(survey: Survey): Verdict {
  let exercised = 0;
  let breach: Breach | null = null;
  for (const lock of survey.locks.values()) {
    const programs = new Set<string>();
    for (const { event } of lock.entries) {
      if (event.kind !== 'enter') continue;
      programs.add(event.process);
      if (programs.size > 1) exercised++;
    }
    for (const { earlier, later } of overlapsOf(survey, lock)) {
      const grants = [earlier, later].map(({ event }) => lock.byOrdinal.get(event.ordinal));
      breach ??= {
        rule: 'both-believe',
        evidence: evidenceOf([
          ['earlier entry', earlier],
          ['later entry', later],
          ['earlier grant', grants[0]],
          ['later grant', grants[1]],
          ...(grants[0] === undefined ? [] : causesSince(survey, grants[0], later)),
        ]),
      };
    }
  }
  return conclude('holder-overlap', { exercised, breach });
}
