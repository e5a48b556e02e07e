/**
 * Measures what a lock around a cached value is for: how many programs compute the same value at
 * once. It is never judged, as a soft lock promises nothing.
 */
import type { Call } from '../history/trace.ts';
import type { Survey } from './survey.ts';

/** Over all keys of a run. */
export interface Stampede {
  /** How often a value was computed, from the beginning or to the end. */
  readonly computations: number;
  /** Programs that computed one value at once, at most. */
  readonly most: number;
}

/**
 * A computation is open from its mark `computing` to its mark `computed`, or the crash of its
 * program, and of the key that its section read last.
 */
export function measureStampede({ trace }: Survey): Stampede {
  let computations = 0;
  let most = 0;
  const lastRead = new Map<string, string>();
  const computing = new Map<string, Set<string>>();
  const end = (process: string): void => {
    for (const programs of computing.values()) programs.delete(process);
  };
  for (const event of trace.events) {
    if (event.kind === 'invoke' && event.call.verb === 'read') {
      lastRead.set(event.process, placeOf(event.call));
    } else if (event.kind === 'fault' && event.fault === 'crash') {
      for (const process of event.processes) end(process);
    } else if (event.kind === 'mark' && event.point.endsWith('/computed')) {
      end(event.process);
    } else if (event.kind === 'mark' && event.point.endsWith('/computing')) {
      const place = lastRead.get(event.process) ?? '';
      const programs = computing.get(place) ?? new Set();
      computing.set(place, programs.add(event.process));
      computations += 1;
      most = Math.max(most, programs.size);
    }
  }
  return { computations, most };
}

function placeOf(call: Call): string {
  return 'store' in call ? JSON.stringify([call.store, call.resource, call.key]) : '';
}
