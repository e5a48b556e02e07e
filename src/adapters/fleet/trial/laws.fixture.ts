/**
 * Laws of sweeps on a queue, under faults on a real server: whatever dies, is paused or is lost,
 * every seed is counted exactly once, and the result is that of one process.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { CHUNKS, Place, type Queues } from './place.fixture.ts';
import { lawsOfSharing } from './sharing-laws.fixture.ts';

/** What coordinators and workers say of a queue that is away; none of it is the library's. */
const OF_RESTARTS =
  /^(the queue (does not answer: .*; waiting for it|answers again|has lost this sweep.*)|seeds .* only compared|chunk \d+ is tried again: .*)$/;

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
  lawsOfSharing(queues.test, place);
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
    const kills = 3;
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
      expect(ours.notes.filter((note) => !OF_RESTARTS.test(note))).toEqual([]);
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
      other.worker('fenced', { lockDuration: 300, stalledInterval: 50 }),
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
  test('a sweep on a queue is left alone by a worker of another version, which says why once, also to its coordinator', async () => {
    const [ours] = await place.begin();
    await ours.work('9.9.9');
    ours.coordinate();
    await later(500);
    await ours.work();
    place.requireSame('a worker of another version', 'once', await ours.ended());
    const isRefusal = (note: string): boolean => note.includes('fencepost 1.0.0, not 9.9.9');
    const [told, ...others] = ours.workerNotes.filter(isRefusal);
    expect(told).toMatch(/^sweep s[0-9a-f]{15} is of .* left for other/);
    expect(others).toEqual([]);
    expect(ours.notes.filter(isRefusal)).toEqual([told, told]);
  });
}

function killed(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return ended;
}

function later(milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
