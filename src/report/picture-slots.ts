/** Puts spans of one lane that are alive at once side by side. */
import type { Span } from './spans.ts';

export interface Slotted<T extends Span> {
  readonly span: T;
  /** In bars, from the lane's middle: 0 where the span is alone. */
  readonly offset: number;
}

/** The spans in their order, each in the first place that is free when it begins. */
export function slotsOf<T extends Span>(spans: readonly T[]): readonly Slotted<T>[] {
  const lanes = new Map<string, (number | null)[]>();
  return spans.map((span) => {
    const busyUntil = lanes.get(span.process) ?? [];
    lanes.set(span.process, busyUntil);
    const free = busyUntil.findIndex((untilUs) => untilUs !== null && untilUs <= span.fromUs);
    const slot = free === -1 ? busyUntil.length : free;
    busyUntil[slot] = span.untilUs;
    return { span, offset: slot };
  });
}
