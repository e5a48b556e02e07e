/**
 * Draws small histories of a lock whose clients acquire and release it in turn, as most programs
 * do; some answers are made up.
 */
import alea from 'seedrandom/lib/alea.js';
import type { History, Operation } from '../../src/linearizability/model.ts';
import type { FencedMutexCall } from '../../src/linearizability/models/fenced-mutex.ts';
import { drawSpans, type HistoryShape } from './random-history.ts';

/** Draws calls of a fenced mutex, which other mutexes accept, too. */
export function drawPairedLock(seed: number, shape: HistoryShape): History<FencedMutexCall> {
  const stream = alea(`lock ${seed}`);
  const below = (limit: number): number => Math.floor(stream() * limit);
  const spans = drawSpans(shape, below).sort((a, b) => a.effect - b.effect);
  const holds = new Set<number>();
  const crashed = new Set<number>();
  const returned = new Map<number, number>();
  let holder: number | null = null;
  let token = 0;
  const operations: Operation<FencedMutexCall>[] = [];
  for (const { client, invoke, end } of spans) {
    // Otherwise its calls would overlap.
    if (crashed.has(client) || invoke <= (returned.get(client) ?? -1)) continue;
    returned.set(client, end);
    const owner = `c${client}`;
    const span = { client: owner, invoke };
    const isRelease = holds.has(client);
    const isWrong = below(100) < shape.wrong;
    const isUnknown = below(100) < shape.unknown;
    const isGranted: boolean = !isRelease && (holder === null) !== isWrong;
    if (isUnknown) crashed.add(client);
    if (isUnknown && below(2) === 0) {
      operations.push({ ...span, call: unknown(owner, isRelease), return: null, outcome: 'info' });
      continue;
    }
    if (isRelease) {
      holds.delete(client);
      if (holder === client) holder = null;
    } else if (isGranted) {
      holds.add(client);
      holder = client;
      token += below(8) === 0 ? -1 : 1;
    }
    if (isUnknown) {
      operations.push({ ...span, call: unknown(owner, isRelease), return: null, outcome: 'info' });
      continue;
    }
    const call: FencedMutexCall = isRelease
      ? { name: 'release', lock: 'l', owner, answer: 'released' }
      : isGranted
        ? granted(owner, below(10) === 0 ? null : token)
        : { name: 'acquire', lock: 'l', owner, answer: 'denied', token: null };
    operations.push({ ...span, call, return: end, outcome: 'ok' });
  }
  return operations.sort((a, b) => a.invoke - b.invoke);
}

/** `token` is null if no client saw it. */
function granted(owner: string, token: number | null): FencedMutexCall {
  return { name: 'acquire', lock: 'l', owner, answer: 'granted', token };
}

function unknown(owner: string, isRelease: boolean): FencedMutexCall {
  return isRelease
    ? { name: 'release', lock: 'l', owner, answer: 'unknown' }
    : { name: 'acquire', lock: 'l', owner, answer: 'unknown', token: null };
}
