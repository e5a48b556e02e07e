/**
 * Decides the history of a register if all written values differ (Gibbons and Korach, 1997,
 * "Testing shared memories"). A write and the reads of its value form a cluster, whose zone lies
 * between its first return and its last call. In a forward zone, the return comes first; in a
 * backward zone, all operations overlap. An order exists iff no read returns before its write is
 * called, no two forward zones overlap, and no backward zone lies inside a forward zone.
 */
import { Interner } from '../interner.ts';
import type { FastDecision, History, Model } from '../model.ts';
import { answeredByReturn, shortestBadPrefix } from './returns.ts';

/**
 * Decides histories of models that `awaits` and `provides` describe completely. Does not apply to
 * models with `approaches`.
 */
export function decideByZones(history: History, model: Model): FastDecision | null {
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
  /** Index of the write, by cluster; -1 for the initial value, which is cluster 0. */
  readonly sources: number[];
}

/** Returns null if a value is written twice, or if a call other than a write changes the state. */
function clusterWrites(history: History, model: Model): Writes | null {
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

/**
 * Returns the cluster of each answered operation, or -1 for a value that was never written. Returns
 * null if an operation is neither a read nor a write.
 */
function clusterAll(
  history: History,
  model: Model,
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

const never = 0x7fff_ffff;

/** The zones of a prefix of a history, swept once from left to right. */
class Zones {
  private readonly answered: readonly number[];
  private readonly clusters: Int32Array;
  private readonly sources: readonly number[];
  /** Ranks, from 1, of the calls of the answered operations. Ordered by return, like `returns`. */
  private readonly invokes: Int32Array;
  private readonly returns: Int32Array;
  /** Rank of the write's call, by cluster; 0 for the initial value. */
  private readonly writeInvokes: Int32Array;
  private readonly ranks: number;
  /** First return and last call, by cluster, in the prefix that was swept last. */
  private readonly first: Int32Array;
  private readonly last: Int32Array;
  /** End of the forward zone that begins at a rank, by rank; 0 if there is none. */
  private readonly forwardEnd: Int32Array;
  /** End of the shortest backward zone that begins at a rank, by rank. */
  private readonly backwardEnd: Int32Array;

  /** `clusters` is indexed by answered operation, and `sources` by cluster. */
  constructor(
    history: History<unknown>,
    answered: readonly number[],
    clusters: Int32Array,
    sources: readonly number[],
  ) {
    this.answered = answered;
    this.clusters = clusters;
    this.sources = sources;
    const positions = new Float64Array(2 * answered.length + sources.length);
    answered.forEach((index, place) => {
      positions[2 * place] = history[index]?.invoke ?? 0;
      positions[2 * place + 1] = history[index]?.return ?? 0;
    });
    sources.forEach((index, cluster) => {
      const invoke = history[index]?.invoke ?? Number.NEGATIVE_INFINITY;
      positions[2 * answered.length + cluster] = invoke;
    });
    const { ranks, count } = rank(positions);
    this.ranks = count;
    this.invokes = ranks.subarray(0, 2 * answered.length).filter((_, place) => place % 2 === 0);
    this.returns = ranks.subarray(0, 2 * answered.length).filter((_, place) => place % 2 === 1);
    this.writeInvokes = ranks.subarray(2 * answered.length);
    this.first = new Int32Array(sources.length);
    this.last = new Int32Array(sources.length);
    this.forwardEnd = new Int32Array(count);
    this.backwardEnd = new Int32Array(count);
  }

  /** Returns true if the first `prefix` returns have an order, with later returns unanswered. */
  areConsistent(prefix: number): boolean {
    return this.gather(prefix) && this.sweep();
  }

  /** Returns false if a read returned before the write of its value, or without one. */
  private gather(prefix: number): boolean {
    const { clusters, invokes, returns, writeInvokes, first, last } = this;
    first.fill(never);
    last.set(writeInvokes);
    first[0] = 0;
    for (let place = 0; place < prefix; place++) {
      const cluster = clusters[place] ?? -1;
      const end = returns[place] ?? 0;
      if (cluster < 0 || end < (writeInvokes[cluster] ?? 0)) return false;
      first[cluster] = Math.min(first[cluster] ?? never, end);
      last[cluster] = Math.max(last[cluster] ?? 0, invokes[place] ?? 0);
    }
    return true;
  }

  private sweep(): boolean {
    const { first, last, forwardEnd, backwardEnd, ranks } = this;
    forwardEnd.fill(0);
    backwardEnd.fill(never);
    for (let cluster = 0; cluster < first.length; cluster++) {
      const from = first[cluster] ?? never;
      const to = last[cluster] ?? 0;
      if (from === never) continue;
      if (from >= to) backwardEnd[to] = Math.min(backwardEnd[to] ?? never, from);
      else if ((forwardEnd[from] ?? 0) > 0) return false;
      else forwardEnd[from] = to;
    }
    let end = 0;
    for (let place = 0; place < ranks; place++) {
      // Checks the zones that begin here. The last forward zone that began before ends at `end`.
      if ((backwardEnd[place] ?? never) < end) return false;
      const next = forwardEnd[place] ?? 0;
      if (next === 0) continue;
      if (place < end) return false;
      end = next;
    }
    return true;
  }

  /** Returns an order of the complete history. Call it after `areConsistent` returned true. */
  order(): number[] {
    const { answered, clusters, sources, first, last, invokes } = this;
    const beginOf = (cluster: number): number =>
      Math.min(first[cluster] ?? never, last[cluster] ?? 0);
    const isForward = (cluster: number): number =>
      (first[cluster] ?? never) < (last[cluster] ?? 0) ? 1 : 0;
    const inOrder = [...sources.keys()]
      .filter((cluster) => first[cluster] !== never)
      .sort((a, b) => beginOf(a) - beginOf(b) || isForward(a) - isForward(b));
    const placeOf = new Int32Array(sources.length);
    inOrder.forEach((cluster, place) => {
      placeOf[cluster] = place;
    });
    const members: number[][] = inOrder.map(() => []);
    const byInvoke = [...answered.keys()].sort((a, b) => (invokes[a] ?? 0) - (invokes[b] ?? 0));
    for (const place of byInvoke) {
      const cluster = clusters[place] ?? 0;
      if (answered[place] !== sources[cluster]) {
        members[placeOf[cluster] ?? 0]?.push(answered[place] ?? 0);
      }
    }
    return inOrder.flatMap((cluster, place) => {
      const write = sources[cluster] ?? -1;
      return write < 0 ? (members[place] ?? []) : [write, ...(members[place] ?? [])];
    });
  }
}

/**
 * Returns the rank of each position. Equal positions have equal ranks. The smallest rank is 0 for
 * minus infinity, otherwise 1.
 */
function rank(positions: Float64Array): { readonly ranks: Int32Array; readonly count: number } {
  const byPosition = new Int32Array(positions.length).map((_, place) => place);
  byPosition.sort((a, b) => {
    const [left = 0, right = 0] = [positions[a], positions[b]];
    return left < right ? -1 : left > right ? 1 : 0;
  });
  const ranks = new Int32Array(positions.length);
  let here = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const place of byPosition) {
    const position = positions[place] ?? 0;
    if (position > last) here += 1;
    last = position;
    ranks[place] = here;
  }
  return { ranks, count: here + 1 };
}
