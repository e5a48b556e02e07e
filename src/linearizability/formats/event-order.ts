/**
 * Orders the events of a file. In file order, passes on each event at once and records
 * contradictory times. In time order, passes on all events at the end.
 */
import { ednText } from './edn.ts';
import {
  type EventOrder,
  type Malformed,
  malformed,
  NEMESIS,
  type RecordedEvent,
  type TimeDisorder,
} from './record.ts';
import { isBefore, isTime, Times } from './times.ts';

/** Events at equal positions may have happened in any order. */
type TakeEvent = (event: RecordedEvent, position: number) => Malformed | null;

interface OrderedEvents {
  push(event: RecordedEvent): Malformed | null;
  end(): Malformed | null;
  disorder(): TimeDisorder | null;
}

export function orderEvents(order: EventOrder | undefined, take: TakeEvent): OrderedEvents {
  return order === 'time' ? orderByTime(take) : orderByFile(take);
}

/** Positions are event numbers, from 1. */
function orderByFile(take: TakeEvent): OrderedEvents {
  let position = 0;
  let latest: RecordedEvent | null = null;
  let disorder: TimeDisorder | null = null;
  const compare = (event: RecordedEvent): void => {
    const { line, column, fields } = event;
    if (isBefore(fields['time'], latest?.fields['time'])) {
      const first = disorder ?? { line, column, afterLine: latest?.line ?? 0 };
      disorder = { ...first, count: (disorder?.count ?? 0) + 1 };
    } else if (isTime(fields['time'])) latest = event;
  };
  return {
    push(event) {
      position += 1;
      if (event.process !== NEMESIS) compare(event);
      return take(event, position);
    },
    end: () => null,
    disorder: () => disorder,
  };
}

/** Positions are the times, relative to the first time if it is large. */
function orderByTime(take: TakeEvent): OrderedEvents {
  const times = new Times();
  const events: { readonly event: RecordedEvent; readonly position: number }[] = [];
  return {
    push(event) {
      const time = event.fields['time'];
      // A fault without a time gets the position of the previous event.
      const other = event.process === NEMESIS ? (events.at(-1)?.position ?? 0) : null;
      const position = times.of(time) ?? other;
      if (position === null) {
        const found = time === undefined ? 'none' : ednText(time);
        return malformed(event, `expected a time within 2^53 of the first, found ${found}`);
      }
      events.push({ event, position });
      return null;
    },
    end() {
      // Events of one process at the same time stay in file order, since the sort is stable.
      events.sort((a, b) => a.position - b.position);
      for (const { event, position } of events) {
        const problem = take(event, position);
        if (problem !== null) return problem;
      }
      return null;
    },
    disorder: () => null,
  };
}
