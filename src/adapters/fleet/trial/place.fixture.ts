/** Where laws of sweeps on a queue are tried: a server of its own for each, and fleets on it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, type TestAPI } from 'vitest';
import { loadScenario } from '../../../load.ts';
import type { Scenario } from '../../../scenario/scenario.ts';
import { originOf } from '../../../search/sweep/sealed.ts';
import type { SeedRange } from '../../../search/sweep/shards.ts';
import { sweep } from '../../../search/sweep/sweep.ts';
import type { Tally } from '../../../search/sweep/tally.ts';
import { openBullQueue } from '../bull-queue.ts';
import { openConnection, type QueueConnection } from '../connection.ts';
import { type QueueAddress, readQueueUrl } from '../queue-url.ts';
import type { SweepQueue } from '../sweep-queue.ts';
import type { SweepRecord } from '../sweep-record.ts';
import { type Ended, Fleet } from './fleet.fixture.ts';
import type { RedisServer } from './redis.fixture.ts';

const file = fileURLToPath(new URL('../../../../fixtures/zombie-writer.yaml', import.meta.url));
export const RANGE: SeedRange = { from: 1, to: 600 };
const chunkSeeds = 12;
export const CHUNKS = 50;

export interface Queues {
  /** Leaves out what needs the server. */
  readonly test: TestAPI;
  readonly isThere: boolean;
  readonly start: () => Promise<RedisServer>;
}

/** What one file of tests has at a time: a server, fleets on it, and a row for each fault. */
export class Place {
  private readonly start: () => Promise<RedisServer>;
  private readonly rows: string[][] = [];
  private scenario: Scenario | null = null;
  private expected: Readonly<Record<string, Tally>> = {};
  private server: RedisServer | null = null;
  private fleets: Fleet[] = [];

  constructor(start: () => Promise<RedisServer>) {
    this.start = start;
  }

  async prepare(): Promise<void> {
    const read = loadScenario(readFileSync(file, 'utf8'), file);
    if (read.kind === 'problems') throw new Error('the fixture does not load');
    this.scenario = read.scenario;
    this.expected = await this.alone(RANGE);
  }

  /** What seeds come to on one process. */
  async alone(range: SeedRange): Promise<Readonly<Record<string, Tally>>> {
    if (this.scenario === null) throw new Error('it is not prepared');
    const { tallies } = await sweep(this.scenario, { ...range, pool: null });
    return Object.fromEntries(tallies);
  }

  /** The record of the sweep that a fleet begins, or of one of another version. */
  recordOf(range: SeedRange = RANGE, version: string = '1.0.0'): SweepRecord {
    if (this.scenario === null) throw new Error('it is not prepared');
    const origin = originOf(this.scenario, version);
    return { origin, file, text: readFileSync(file, 'utf8'), range, chunkSeeds };
  }

  async begin(window: number = 10_000): Promise<[Fleet, RedisServer]> {
    const server = await this.start();
    this.server = server;
    return [this.fleet(server, RANGE, window), server];
  }

  /** A fleet for a sweep of these seeds, beside others that are there. */
  fleet(server: RedisServer, range: SeedRange, window: number = 10_000): Fleet {
    const fleet = new Fleet(server, { file, range, chunkSeeds, window });
    this.fleets.push(fleet);
    return fleet;
  }

  /** A connection to the server, which is started if need be. */
  async connect(): Promise<QueueConnection> {
    return await openConnection(await this.address(), { isPatient: true, onError: () => {} });
  }

  /** A coordinator's view of the queue. */
  async queue(onError: (error: Error) => void = () => {}): Promise<SweepQueue> {
    return await openBullQueue(await this.address(), onError);
  }

  async leave(): Promise<void> {
    for (const fleet of this.fleets) await fleet.end();
    await this.server?.end();
    this.fleets = [];
    this.server = null;
  }

  /** The result is that of one process, and `met` says what happened on the way. */
  requireSame(what: string, met: string, { end, alarm, lost, late, tallies }: Ended): void {
    const { expected } = this;
    const seeds = Object.values(tallies).map((tally) => tally.seeds);
    const { begun = 0, examined = 0 } = this.fleets[0] ?? {};
    const isEqual = JSON.stringify(sorted(tallies)) === JSON.stringify(sorted(expected));
    const row = [what, met, seeds.join(' + '), ...[begun, examined, late, isEqual].map(String)];
    this.rows.push(row);
    expect([end, alarm, lost]).toEqual(['whole', null, []]);
    expect(seeds).toEqual([600, 600]);
    expect(tallies).toEqual(expected);
  }

  printRows(): void {
    const head = ['fault', 'met', 'seeds', 'begun', 'finished', 'late', 'equal'];
    const table = [head, ...this.rows];
    const widths = head.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
    const lines = table.map((row) =>
      row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '),
    );
    process.stdout.write(`\n${lines.join('\n')}\n\n`);
  }

  private async address(): Promise<QueueAddress> {
    this.server ??= await this.start();
    const read = readQueueUrl(this.server.url);
    if (read.kind === 'problem') throw new Error(read.what);
    return read.address;
  }
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries: [string, unknown][] = Object.entries(value);
  const inner = entries.map(([name, one]): [string, unknown] => [name, sorted(one)]);
  return inner.sort(([a], [b]) => (a < b ? -1 : 1));
}
