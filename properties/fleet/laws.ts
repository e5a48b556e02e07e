/**
 * Laws of sweeps on a queue, under faults on a real server: whatever dies, is paused or is lost,
 * every seed is counted exactly once, and the result is that of one process.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, type TestAPI, vi } from 'vitest';
import { type Connection, openConnection } from '../../src/fleet/connection.ts';
import { readQueueUrl } from '../../src/fleet/queue-url.ts';
import { loadScenario } from '../../src/load.ts';
import { sweep } from '../../src/sweep/sweep.ts';
import type { Tally } from '../../src/sweep/tally.ts';
import { type Ended, Fleet } from './fleet.ts';
import type { QueueServer } from './server.ts';

const file = fileURLToPath(new URL('../../fixtures/zombie-writer.yaml', import.meta.url));
const range = { from: 1, to: 600 };
const chunkSeeds = 12;
const CHUNKS = 50;

export interface Queues {
  /** Leaves out what needs the server. */
  readonly test: ReturnType<TestAPI['skipIf']>;
  readonly isThere: boolean;
  readonly start: () => Promise<QueueServer>;
}

/** Adds the laws to a file of tests, which has only those of one server. */
export function lawsOfSweeps(queues: Queues): void {
  // Processes start and end many times, on machines that may be busy.
  vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });
  const place = new Place(queues.start);
  if (queues.isThere) {
    beforeAll(() => place.prepare());
    afterEach(() => place.leave());
    afterAll(() => place.printRows());
  }
  lawsOfDeath(queues.test, place);
  lawsOfLocks(queues.test, place);
  lawsOfWorkers(queues.test, place);
}

function lawsOfDeath(test: Queues['test'], place: Place): void {
  test('a sweep on a queue comes to what one process comes to, and examines nothing twice', async () => {
    const [ours] = await place.begin();
    ours.coordinate();
    await Promise.all([ours.work(), ours.work()]);
    place.requireSame('none', '', await ours.ended());
    expect(ours.examined).toBe(CHUNKS);
    expect(ours.shrunk).toEqual([expect.stringContaining('unfenced grant-order')]);
  });

  test('a sweep on a queue loses and repeats nothing when workers are killed', async () => {
    const [ours] = await place.begin();
    ours.coordinate();
    const kills = 6;
    for (let kill = 0; kill < kills; kill += 1) {
      // The only one that is alive, so that nothing ends without it.
      const victim = await ours.work();
      for (let chunk = 0; chunk <= kill % 3; chunk += 1) await ours.begins(victim);
      await later(3 * kill);
      await killed(victim);
    }
    await Promise.all([ours.work(), ours.work()]);
    place.requireSame('workers killed', `${kills} times`, await ours.ended());
    expect(ours.begun).toBeGreaterThan(CHUNKS);
  });

  test.each(['with its data', 'without its data'] as const)(
    'a sweep on a queue goes on when the server is killed and comes back %s',
    async (what) => {
      const [ours, server] = await place.begin();
      ours.coordinate();
      await Promise.all([ours.work(), ours.work()]);
      for (const at of [8, 25]) {
        await ours.counted(at);
        await server.restart(what);
      }
      place.requireSame(`server restarted ${what}`, '2 times', await ours.ended());
    },
  );

  test('a sweep on a queue goes on when its coordinator is killed, without repeating what it has', async () => {
    const [ours] = await place.begin(12);
    ours.coordinate();
    await Promise.all([ours.work(), ours.work()]);
    for (const at of [8, 25]) {
      await ours.counted(at);
      await ours.killCoordinator();
      ours.coordinate();
    }
    place.requireSame('coordinator killed', '2 times', await ours.ended());
    expect(ours.examined).toBe(CHUNKS);
  });
}

function lawsOfLocks(test: Queues['test'], place: Place): void {
  test('a chunk counts once that a worker finishes past its lock, after another did', async () => {
    const [ours] = await place.begin();
    ours.coordinate();
    const zombie = await ours.work();
    await ours.counted(3);
    await ours.begins(zombie);
    zombie.kill('SIGSTOP');
    // So that the sweep does not end before the late result is there.
    ours.signalCoordinator('SIGSTOP');
    await ours.work();
    await ours.until('another worker has done all', () => ours.examined === CHUNKS);
    zombie.kill('SIGCONT');
    await ours.until('the zombie was refused', () =>
      ours.notes.some((note) => /only compared/.test(note)),
    );
    ours.signalCoordinator('SIGCONT');
    const ended = await ours.ended();
    place.requireSame('worker paused past its lock', 'once', ended);
    expect(ended.late).toBe(1);
    expect([ours.begun, ours.examined]).toEqual([CHUNKS + 1, CHUNKS]);
  });

  test('the queue takes no result from under a lock that is lost, even where nobody looked', async () => {
    const connection = await place.connect();
    const queue = connection.queue('fenced');
    // Both on one connection would end it twice.
    const others = [await place.connect(), await place.connect()];
    const [slow, fast] = others.map((other) =>
      other.worker('fenced', null, { lockDuration: 300, stalledInterval: 50 }),
    );
    await queue.add('chunk', {}, { jobId: 'chunk-1' });
    const ours = await slow?.getNextJob('slow');
    await later(400);
    await fast?.startStalledCheckTimer();
    while ((await queue.getJobCounts('waiting'))['waiting'] === 0) await later(20);
    const theirs = await fast?.getNextJob('fast');
    expect(theirs?.id).toBe('chunk-1');
    await expect(ours?.moveToCompleted('of the zombie', 'slow', false)).rejects.toThrow(/lock/i);
    await theirs?.moveToCompleted('of its successor', 'fast', false);
    await expect(ours?.moveToCompleted('of the zombie', 'slow', false)).rejects.toThrow(
      /lock|not in the active state/i,
    );
    expect((await queue.getJob('chunk-1'))?.returnvalue).toBe('of its successor');
    await Promise.all([slow?.close(), fast?.close(), queue.close()]);
    for (const one of [connection, ...others]) await one.close();
  });
}

function lawsOfWorkers(test: Queues['test'], place: Place): void {
  test('a sweep on a queue is left alone by a worker of another version, which says why once', async () => {
    const [ours] = await place.begin();
    await ours.work('9.9.9');
    ours.coordinate();
    await later(500);
    await ours.work();
    place.requireSame('a worker of another version', 'once', await ours.ended());
    const told = ours.notes.filter((note) => note.includes('fencepost 1.0.0, not 9.9.9'));
    expect(told).toEqual([expect.stringMatching(/^sweep s[0-9a-f]{15} is of .* left for other/)]);
  });
}

/** What one file of tests has at a time: a server, a fleet on it, and a row for each fault. */
class Place {
  private readonly start: () => Promise<QueueServer>;
  private readonly rows: string[][] = [];
  private expected: Readonly<Record<string, Tally>> = {};
  private server: QueueServer | null = null;
  private fleet: Fleet | null = null;

  constructor(start: () => Promise<QueueServer>) {
    this.start = start;
  }

  async prepare(): Promise<void> {
    const read = loadScenario(readFileSync(file, 'utf8'), file);
    if (read.kind === 'problems') throw new Error('the fixture does not load');
    const { tallies } = await sweep(read.scenario, { ...range, pool: null });
    this.expected = Object.fromEntries(tallies);
  }

  async begin(window: number = 10_000): Promise<[Fleet, QueueServer]> {
    const server = await this.start();
    this.server = server;
    const fleet = new Fleet(server, { file, range, chunkSeeds, window });
    this.fleet = fleet;
    return [fleet, server];
  }

  /** A connection to the server, which is started if need be. */
  async connect(): Promise<Connection> {
    this.server ??= await this.start();
    const read = readQueueUrl(this.server.url);
    if (read.kind === 'problem') throw new Error(read.what);
    return await openConnection(read.address, { isPatient: true, onError: () => {} });
  }

  async leave(): Promise<void> {
    await this.fleet?.end();
    await this.server?.end();
    this.fleet = null;
    this.server = null;
  }

  /** The result is that of one process, and `struck` says what happened on the way. */
  requireSame(what: string, struck: string, { end, alarm, lost, late, tallies }: Ended): void {
    const { expected } = this;
    const seeds = Object.values(tallies).map((tally) => tally.seeds);
    const { begun = 0, examined = 0 } = this.fleet ?? {};
    const isEqual = JSON.stringify(sorted(tallies)) === JSON.stringify(sorted(expected));
    const row = [what, struck, seeds.join(' + '), ...[begun, examined, late, isEqual].map(String)];
    this.rows.push(row);
    expect([end, alarm, lost]).toEqual(['whole', null, []]);
    expect(seeds).toEqual([600, 600]);
    expect(tallies).toEqual(expected);
  }

  printRows(): void {
    const head = ['fault', 'struck', 'seeds', 'begun', 'finished', 'late', 'equal'];
    const table = [head, ...this.rows];
    const widths = head.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
    const lines = table.map((row) =>
      row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '),
    );
    process.stdout.write(`\n${lines.join('\n')}\n\n`);
  }
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries: [string, unknown][] = Object.entries(value);
  const inner = entries.map(([name, one]): [string, unknown] => [name, sorted(one)]);
  return inner.sort(([a], [b]) => (a < b ? -1 : 1));
}

function killed(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return ended;
}

function later(milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
