/**
 * Decides a register in which every write wrote another value (Gibbons and Korach, 1997, "Testing
 * shared memories"). A write and the reads of its value are a cluster; its zone lies between the
 * first return and the last call in it. An order exists iff no read returns before its write is
 * called, no two forward zones (the return comes first) overlap, and no backward zone (all overlap)
 * lies inside a forward one.
 */
import type { Json } from '../../core/kernel/json.ts';
import { Interner } from '../interner.ts';
import type { FastDecision, Model } from '../model.ts';
import type { CallData, History } from '../operation.ts';
import { answeredByReturn, shortestBadPrefix } from './returns.ts';
import { Zones } from './zone-sweep.ts';

/** For models whose `awaits` and `provides` say all: not for one in which calls approach states. */
export function decideByZones<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): FastDecision | null {
  const writes = clusterWrites(history, model);
  if (writes === null) return null;
  const answered = answeredByReturn(history);
  const clusters = clusterAll(history, model, answered, writes);
  if (clusters === null) return null;
  const zones = new Zones(history, answered, clusters, writes.sources);
  if (zones.areConsistent(answered.length)) return { kind: 'valid', order: zones.order() };
  const returns = shortestBadPrefix(answered.length, (prefix) => zones.areConsistent(prefix));
  return { kind: 'invalid', at: answered[returns - 1] ?? 0 };
}

interface Writes {
  readonly values: Interner;
  /** By cluster the index of its write, -1 for the initial value, which is cluster 0. */
  readonly sources: number[];
}

/** Null when a value is written twice, or something else than writes changes the state. */
function clusterWrites<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): Writes | null {
  const values = new Interner();
  values.reset();
  values.intern(model.init);
  const sources = [-1];
  for (const [index, { call, outcome }] of history.entries()) {
    if (outcome === 'fail' || model.isPure?.(call)) continue;
    const value = model.provides?.(call);
    if (value === undefined || model.awaits?.(call) !== undefined) return null;
    if (values.intern(value) !== sources.length) return null;
    sources.push(index);
  }
  return { values, sources };
}

/** By answered operation its cluster, -1 for a value never written; null: one is no read. */
function clusterAll<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  answered: readonly number[],
  { values, sources }: Writes,
): Int32Array | null {
  const clusters = new Int32Array(answered.length);
  for (const [place, index] of answered.entries()) {
    const call = history[index]?.call;
    if (call === undefined) return null;
    const isRead = model.isPure?.(call) ?? false;
    const value = isRead ? model.awaits?.(call) : model.provides?.(call);
    if (value === undefined) return null;
    if (isRead && model.step(value, call).length === 0) return null;
    const cluster = values.intern(value);
    clusters[place] = cluster < sources.length ? cluster : -1;
  }
  return clusters;
}
