/** Gives the tellers of `explain` the events of a contradiction by the parts that they play. */

import type { Grant } from '../core/history/server-events.ts';
import type { FaultStrikes, Trace, TraceEvent } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import type { Explanation, Invalid } from './verdict.ts';

export type EventKind = TraceEvent['kind'];
export type EventOf<K extends EventKind> = Extract<TraceEvent, { readonly kind: K }>;

export interface Story {
  readonly trace: Trace;
  readonly verdict: Invalid;
  /** The events of the evidence, in the order of the trace. */
  readonly parts: readonly { readonly role: string; readonly event: TraceEvent }[];
  /** The grants among them; the first is called A, the second B, …. */
  readonly grants: readonly Grant[];
  readonly faults: readonly FaultStrikes[];
}

/** An explanation without what is given, the grants; `course` is its `then`. */
export interface Telling extends Pick<Explanation, 'headline' | 'however' | 'cure'> {
  readonly course: string;
}

/** Tells the story of one rule. */
export type Teller = (story: Story) => Telling;

/** Looks the evidence up in its trace. */
export function storyOf(trace: Trace, verdict: Invalid): Story {
  const parts = verdict.evidence.map(({ role, event: index }) => {
    const event = trace.events[index];
    assert(event !== undefined, `the evidence names event ${index}, which the trace lacks`);
    return { role, event };
  });
  const events = parts.map(({ event }) => event);
  const grants = events.filter((event) => isOneOf(event, ['grant']));
  const faults = events.filter((event) => isOneOf(event, ['fault']));
  return { trace, verdict, parts, grants, faults };
}

/** The event that plays `role`, if it is of one of `kinds`. */
export function find<K extends EventKind>(
  story: Story,
  role: string,
  ...kinds: readonly K[]
): EventOf<K> | undefined {
  for (const part of story.parts) {
    if (part.role === role && isOneOf(part.event, kinds)) return part.event;
  }
  return undefined;
}

/** The same, where no such contradiction comes without it. */
export function need<K extends EventKind>(
  story: Story,
  role: string,
  ...kinds: readonly K[]
): EventOf<K> {
  const event = find(story, role, ...kinds);
  assert(event !== undefined, `a breach of ${story.verdict.rule} shows its ${role}`);
  return event;
}

/** All events that play `role`. */
export function findAll<K extends EventKind>(
  story: Story,
  role: string,
  ...kinds: readonly K[]
): readonly EventOf<K>[] {
  const found: EventOf<K>[] = [];
  for (const part of story.parts) {
    if (part.role === role && isOneOf(part.event, kinds)) found.push(part.event);
  }
  return found;
}

/** What the story calls the grant that `ordinal` numbers. */
export function letterOf(story: Story, ordinal: number): string {
  const place = story.grants.findIndex((grant) => grant.ordinal === ordinal);
  return place < 0 || place > 25 ? `grant ${ordinal}` : String.fromCharCode(65 + place);
}

function isOneOf<K extends EventKind>(event: TraceEvent, kinds: readonly K[]): event is EventOf<K> {
  return kinds.some((kind) => kind === event.kind);
}
