/**
 * Puts the events of a file in one order: that of the file, in which each event is passed on at
 * once, noting where the times contradict it; or that of the times, after the last event.
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

/** Takes an event at its position; events at one position happened in any order. */
type TakeEvent = (event: RecordedEvent, position: number) => Malformed | null;

interface OrderedEvents {
  push(event: RecordedEvent): Malformed | null;
  /** The file ended. */
  end(): Malformed | null;
  /** So far. */
  disorder(): TimeDisorder | null;
}

export function orderEvents(order: EventOrder | undefined, take: TakeEvent): OrderedEvents {
  return order === 'time' ? orderByTime(take) : orderByFile(take);
}

/** Positions are the numbers of the events. */
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

/** Positions are the times, or how much later they are than the first one. */
function orderByTime(take: TakeEvent): OrderedEvents {
  const times = new Times();
  const events: { readonly event: RecordedEvent; readonly position: number }[] = [];
  return {
    push(event) {
      const time = event.fields['time'];
      // A fault without a time counts as one of the event above it.
      const other = event.process === NEMESIS ? (events.at(-1)?.position ?? 0) : null;
      const position = times.of(time) ?? other;
      if (position === null) {
        const found = time === undefined ? 'and there is none' : `found ${ednText(time)}`;
        return malformed(event, `expected a time, less than 2^53 from the first, ${found}`);
      }
      events.push({ event, position });
      return null;
    },
    end() {
      // A process may have events of one time, which stay in the order of the file.
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
