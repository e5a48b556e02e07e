/** Reads the numbers that people type: seeds, ranges of seeds, counts and times. */
import { randomInt } from 'node:crypto';
import { parseDuration } from '../core/plan/duration.ts';
import { MOST_SHARDS, type Shard } from '../search/sweep/shard.ts';
import { UserError } from './exit.ts';

/** `1000` is the first thousand seeds; `500..999` is that range, both included. */
export function parseSeeds(text: string): { from: number; to: number } {
  const range = /^(\d+)\.\.(\d+)$/.exec(text);
  if (range !== null) {
    const from = parseCount(range[1] ?? '', '--seeds');
    const to = parseCount(range[2] ?? '', '--seeds');
    if (to < from) throw new UserError([`--seeds ${text}: the range ends before it begins`]);
    return { from, to };
  }
  const count = parseCount(text, '--seeds');
  if (count === 0) throw new UserError(['--seeds 0: at least one seed is needed']);
  return { from: 0, to: count - 1 };
}

/** As many seeds, from a random one on; `randomInt` allows spans below 2⁴⁸. */
export function freshSeeds(range: { from: number; to: number }): { from: number; to: number } {
  const from = randomInt(2 ** 47);
  return { from, to: from + range.to - range.from };
}

/** `2/5` is the second of five shards, of which there are at most `MOST_SHARDS`. */
export function parseShard(text: string): Shard {
  const [, index = '', of = ''] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (index === '') throw new UserError([`--shard ${text}: expected one of several, e.g. 1/4`]);
  const shard = { index: parsePositive(index, '--shard'), of: parsePositive(of, '--shard') };
  if (shard.of > MOST_SHARDS) {
    throw new UserError([`--shard ${text}: at most ${MOST_SHARDS} shards are possible`]);
  }
  if (shard.index <= shard.of) return shard;
  throw new UserError([`--shard ${text}: there are only ${shard.of}`]);
}

/** A whole number from 0, small enough to be exact. */
export function parseCount(text: string, flag: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UserError([`${flag} ${text}: a whole number is expected, e.g. 1000`]);
  }
  return value;
}

/** The same from 1. */
export function parsePositive(text: string, flag: string): number {
  const value = parseCount(text, flag);
  if (value === 0) throw new UserError([`${flag} 0: at least 1 is needed`]);
  return value;
}

/** `60s` in milliseconds. */
export function parseTimeMs(text: string, flag: string): number {
  const us = parseDuration(text);
  if (us === undefined) throw new UserError([`${flag} ${text}: a time is expected, e.g. 60s`]);
  return us / 1000;
}
