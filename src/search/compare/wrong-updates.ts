/**
 * What went wrong with the counters of a run, from the order in which their stores handled things:
 * which increments are in the final value no more, and which are in it more than once. A sum would
 * let the one hide the other, and an increment whose client never heard of it hide a loss.
 */
import { firstValue, intentOf, isEffective, recoveredValue } from '../../check/contents.ts';
import type { KeyLog, PlaceLog, TraceIndex } from '../../check/trace-index.ts';

export interface WrongUpdates {
  /** Increments that a store accepted and whose effect was overwritten or forgotten. */
  readonly lost: number;
  /** How often an increment took effect beyond the first time, by repeats or second deliveries. */
  readonly repeated: number;
}

/** Over all counters: the keys that are only ever incremented, transfers included. */
export function wrongUpdates(indexed: TraceIndex): WrongUpdates {
  let lost = 0;
  let repeated = 0;
  for (const place of indexed.places) {
    for (const key of place.keys.values()) {
      const states = statesOf(indexed, place, key);
      if (states === null) continue;
      const applied = new Set(states.flatMap(({ intents }) => intents));
      const intents = states.at(-1)?.intents ?? [];
      const left = new Set(intents);
      lost += applied.size - left.size;
      repeated += intents.length - left.size;
    }
  }
  return { lost, repeated };
}

/** A value that a counter had, and the increments that it is made of. */
interface State {
  readonly value: number;
  readonly intents: readonly string[];
}

/** The states of a counter, in order; null where something else was written to it. */
function statesOf(indexed: TraceIndex, place: PlaceLog, key: KeyLog): readonly State[] | null {
  const first: State = { value: firstValue(place, key.key), intents: [] };
  const states: State[] = [first];
  for (const entry of [...key.accesses, ...place.recoveries].sort((a, b) => a.index - b.index)) {
    if (entry.event.kind === 'recovered') {
      const value = recoveredValue(place, entry.event, key.key);
      states.push({ value, intents: stateAt(states, value)?.intents ?? [] });
    } else if ('latest' in entry && isEffective(entry)) {
      const { value, adds, operation } = entry.event;
      if (adds === null) return null;
      const from = stateAt(states, value - adds) ?? states.at(-1) ?? first;
      states.push({ value, intents: [...from.intents, intentOf(indexed, operation)] });
    }
  }
  return states;
}

/** The state that was read by who found this value: the last one that had it. */
function stateAt(states: readonly State[], value: number): State | undefined {
  return states.findLast((state) => state.value === value);
}
