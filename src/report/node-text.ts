/**
 * Says what each node of a quorum did. No server of a quorum grants anything by itself, so it is
 * read from what a node was asked and what it answered.
 */
import type { Trace, TraceEvent } from '../core/history/trace.ts';
import type { Json } from '../core/kernel/json.ts';
import { proseDuration } from '../core/plan/duration.ts';

/** What a node did, and whether that changed anything. */
export interface NodeDeed {
  readonly text: string;
  readonly isChange: boolean;
}

/** By the sending of its answer: `sets db for alice, ttl 10 ms`; empty where no quorum grants. */
export function nodeDeeds(trace: Trace): ReadonlyMap<TraceEvent, NodeDeed> {
  const deeds = new Map<TraceEvent, NodeDeed>();
  const locks = trace.processes.filter(({ role }) => role === 'lock').map(({ name }) => name);
  const grants = trace.events.filter(({ kind }) => kind === 'grant');
  const isByQuorum = grants.every((event) => 'process' in event && !locks.includes(event.process));
  if (grants.length === 0 || !isByQuorum) return deeds;
  const asked = new Map<string, Json>();
  for (const event of trace.events) {
    if (event.kind !== 'send') continue;
    if (locks.includes(event.to)) asked.set(event.message, event.body);
    if (!locks.includes(event.from)) continue;
    const request = asked.get(event.message.replace(/reply$/, 'request')) ?? null;
    const text = deedOf(request, event.body, event.to);
    if (text === null) continue;
    deeds.set(event, { text, isChange: fieldOf(event.body, 'kind') === 'done' });
  }
  return deeds;
}

/** Null for what is none of a node's commands. */
function deedOf(request: Json, reply: Json, client: string): string | null {
  const key = fieldOf(request, 'key');
  if (typeof key !== 'string') return null;
  const done = fieldOf(reply, 'kind');
  if (done === 'unavailable') return `is out of service to ${client}`;
  if (done !== 'done' && done !== 'nil') return null;
  const ttl = fieldOf(request, 'ttlUs');
  const lasting = typeof ttl === 'number' ? `, ttl ${proseDuration(ttl)}` : '';
  switch (fieldOf(request, 'kind')) {
    case 'set':
      return done === 'done'
        ? `sets ${key} for ${client}${lasting}`
        : `has ${key}, not ${client}'s`;
    case 'expire':
      return done === 'done'
        ? `prolongs ${key} for ${client}${lasting}`
        : `has no ${key} of ${client}'s`;
    case 'delete':
      return done === 'done' ? `lets go of ${client}'s ${key}` : `has no ${key} of ${client}'s`;
    default:
      return null;
  }
}

function fieldOf(body: Json, name: string): Json | undefined {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined;
  return Object.entries(body).find(([field]) => field === name)?.[1];
}
