/** Several coordinators of one sweep, one of which was paused: exactly one of them goes on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Gate,
  id,
  type Kept,
  options,
  requireWhole,
  sweep,
  timing,
  until,
  viewOf,
  work,
} from './coordinate.fixture.ts';
import { type CoordinateOptions, coordinate, type FleetResult, isAhead } from './coordinate.ts';
import { MemoryQueue } from './memory-queue.fixture.ts';

/** A coordinator whose calls of one method wait at a gate. */
function gated(
  queue: MemoryQueue,
  method: 'tell' | 'sweep' | 'ended' | 'late',
): { readonly view: MemoryQueue; readonly gate: Gate } {
  const view = viewOf(queue);
  const gate = new Gate();
  if (method === 'tell') {
    view.tell = async (sweepId, progress) => {
      await gate.pass();
      await queue.tell(sweepId, progress);
    };
  } else if (method === 'sweep') {
    view.sweep = async (sweepId) => {
      const listed = await queue.sweep(sweepId);
      await gate.pass();
      return listed;
    };
  } else {
    view[method] = async (sweepId, wanted) => {
      const ended = await queue[method](sweepId, wanted);
      await gate.pass();
      return ended;
    };
  }
  return { view, gate };
}

function begin(
  queue: MemoryQueue,
  coordinator: string,
  { kept = { text: null }, ...change }: Partial<CoordinateOptions> & { kept?: Kept } = {},
): Promise<FleetResult> {
  return coordinate(options(queue, kept, { coordinator, ...change }));
}

function owner(queue: MemoryQueue): string | undefined {
  return queue.records.get(id)?.progress?.coordinator;
}

/** Works on what there is until both have ended. */
async function both(
  queue: MemoryQueue,
  ends: readonly Promise<FleetResult>[],
): Promise<readonly FleetResult[]> {
  let isOver = false;
  const all = Promise.all(ends).finally(() => {
    isOver = true;
  });
  await until(() => {
    queue.work(work, 2);
    return isOver;
  });
  return await all;
}

// Whatever its id, which decides only where epochs are equal.
test.each([
  ['a', 'z'],
  ['z', 'a'],
])(
  'a coordinator paused between looking and telling does not take the sweep back: %s from %s',
  async (mine, successor) => {
    const queue = new MemoryQueue();
    const { view, gate } = gated(queue, 'tell');
    const paused = begin(view, mine);
    await until(() => queue.waiting.size > 0);
    queue.work(work, 3);
    gate.isShut = true;
    await until(() => gate.held > 0);
    const second = begin(queue, successor);
    await until(() => owner(queue) === successor);
    gate.open();
    const [first, other] = await both(queue, [paused, second]);
    expect(first?.end).toBe('replaced');
    if (other !== undefined) requireWhole(other);
  },
);

test('a coordinator paused between looking and saving makes work, and no miscount', async () => {
  const queue = new MemoryQueue();
  const { view, gate } = gated(queue, 'sweep');
  const kept: Kept = { text: null };
  const paused = begin(view, 'first', { kept });
  await until(() => queue.waiting.size > 0);
  gate.isShut = true;
  await until(() => gate.held > 0);
  queue.work(work, 5);
  let isLeft = false;
  const second = begin(queue, 'second', { kept, shouldStop: () => isLeft });
  await until(() => owner(queue) === 'second');
  await until(() => queue.completed.size === 0);
  gate.open();
  expect((await paused).end).toBe('replaced');
  isLeft = true;
  expect((await second).end).toBe('left');
  const [third] = await both(queue, [begin(queue, 'third', { kept })]);
  if (third !== undefined) requireWhole(third);
});

test('a coordinator that was replaced while it collected does not save any more', async () => {
  const queue = new MemoryQueue();
  const { view, gate } = gated(queue, 'ended');
  const kept: Kept = { text: null };
  const paused = begin(view, 'first', { kept });
  await until(() => queue.waiting.size > 0);
  queue.work(work, 3);
  gate.isShut = true;
  await until(() => gate.held > 0);
  const before = kept.text;
  const second = begin(queue, 'second');
  await until(() => owner(queue) === 'second');
  gate.open();
  expect((await paused).end).toBe('replaced');
  expect(kept.text).toBe(before);
  const [other] = await both(queue, [second]);
  if (other !== undefined) requireWhole(other);
});

test('a coordinator that was replaced while it counted the last chunk does not end the sweep', async () => {
  const queue = new MemoryQueue();
  const { view, gate } = gated(queue, 'late');
  const paused = begin(view, 'first', { timing: { ...timing, saveMs: 1e9 } });
  await until(() => queue.waiting.size > 0);
  gate.isShut = true;
  await until(() => gate.held > 0);
  queue.work(work);
  gate.open();
  gate.isShut = true;
  await until(() => gate.held > 0);
  const successor = gated(queue, 'ended');
  successor.gate.isShut = true;
  const second = begin(successor.view, 'second');
  await until(() => owner(queue) === 'second');
  gate.open();
  expect((await paused).end).toBe('replaced');
  expect(queue.records.has(id)).toBe(true);
  successor.gate.open();
  const [other] = await both(queue, [second]);
  if (other !== undefined) requireWhole(other);
});

test('what one wrote that was replaced does not stay until the next beat', async () => {
  const queue = new MemoryQueue();
  const alive = begin(queue, 'alive', { timing: { ...timing, beatMs: 1e6 } });
  await until(() => owner(queue) === 'alive');
  const progress = queue.records.get(id)?.progress;
  if (progress === null || progress === undefined) throw new Error('it has told something');
  await queue.tell(id, { ...progress, coordinator: 'zombie', epoch: 0 });
  await until(() => owner(queue) === 'alive');
  const [whole] = await both(queue, [alive]);
  if (whole !== undefined) requireWhole(whole);
});

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('of two that take a sweep over at once exactly one goes on: %s before %s', async (one, two) => {
  const queue = new MemoryQueue();
  let isLeft = false;
  const gone = begin(queue, 'gone', { shouldStop: () => isLeft });
  await until(() => owner(queue) === 'gone');
  isLeft = true;
  await gone;
  const gates = [gated(queue, 'tell'), gated(queue, 'tell')] as const;
  const [first, second] = gates;
  for (const { gate } of gates) gate.isShut = true;
  const ends = [begin(first.view, one), begin(second.view, two)];
  await until(() => gates.every(({ gate }) => gate.held > 0));
  first.gate.open();
  await until(() => owner(queue) === one);
  second.gate.open();
  const results = await both(queue, ends);
  expect(results.map(({ end }) => end).sort()).toEqual(['replaced', 'whole']);
  for (const result of results) if (result.end === 'whole') requireWhole(result);
});

test('a coordinator that is alive is never taken for gone, and one that is gone is replaced', async () => {
  const queue = new MemoryQueue();
  const alive = begin(queue, 'alive');
  await until(() => owner(queue) === 'alive');
  expect((await begin(queue, 'other')).end).toBe('busy');
  const [whole] = await both(queue, [alive]);
  if (whole !== undefined) requireWhole(whole);
});

/** A record whose coordinator is gone, having counted so many chunks. */
async function leftSweep(chunksDone: number): Promise<MemoryQueue> {
  const queue = new MemoryQueue();
  let isLeft = false;
  const gone = begin(queue, 'gone', { shouldStop: () => isLeft });
  await until(() => queue.waiting.size > 0);
  queue.work(work, chunksDone);
  await until(() => queue.records.get(id)?.progress?.done === chunksDone);
  isLeft = true;
  await gone;
  return queue;
}

test('a stop that comes while a sweep is taken over is heard', async () => {
  for (const before of ['running', 'stopped'] as const) {
    const queue = await leftSweep(0);
    await queue.setState(id, before);
    const second = begin(queue, 'second', { timing: { ...timing, beatMs: 30 } });
    await new Promise((resolve) => setTimeout(resolve, 30));
    await queue.setState(id, 'stopped');
    expect((await second).end).toBe('stopped');
    expect(queue.waiting.size).toBe(0);
  }
});

test('a sweep that was stopped earlier goes on', async () => {
  const queue = await leftSweep(0);
  await queue.setState(id, 'stopped');
  const [result] = await both(queue, [begin(queue, 'second')]);
  if (result !== undefined) requireWhole(result);
});

test('who has no checkpoint is told what is examined again', async () => {
  for (const [done, line] of [
    [4, 'no checkpoint here: 4 chunks that another coordinator counted are examined again'],
    [1, 'no checkpoint here: 1 chunk that another coordinator counted is examined again'],
    [0, null],
  ] as const) {
    const notes: string[] = [];
    const queue = await leftSweep(done);
    const note = (told: string): void => {
      notes.push(told);
    };
    await both(queue, [begin(queue, 'second', { note })]);
    expect(notes).toEqual(line === null ? [] : [line]);
  }
});

test('a sweep that was announced with other chunks first is not begun with ours', async () => {
  const other = { ...sweep, chunkSeeds: 9 };
  const queue = new MemoryQueue();
  await queue.announce(id, other);
  expect((await begin(queue, 'first')).end).toBe('recut');
  expect(queue.records.get(id)).toEqual({
    entry: { sweep: other, state: 'running' },
    progress: null,
  });
  // Both found none and announced theirs: the last one is on the queue.
  const raced = viewOf(queue);
  raced.announce = async () => ({ id, entry: { sweep, state: 'running' }, progress: null });
  expect((await begin(raced, 'first')).end).toBe('recut');
  expect([queue.added, queue.waiting.size]).toEqual([0, 0]);
});

test('a sweep that is under way keeps its chunks, whatever is announced meanwhile', async () => {
  const queue = new MemoryQueue();
  const result = begin(queue, 'first');
  await until(() => queue.waiting.size > 0);
  queue.work(work, 3);
  await until(() => queue.records.get(id)?.progress?.done === 3);
  queue.lose();
  await queue.announce(id, { ...sweep, chunkSeeds: 9 });
  await until(() => queue.records.get(id)?.entry.sweep.chunkSeeds === sweep.chunkSeeds);
  const [whole] = await both(queue, [result]);
  if (whole !== undefined) requireWhole(whole);
});

test('of any two coordinators exactly one is ahead, and none is ahead of itself', () => {
  const owners = fc.record({ coordinator: fc.constantFrom('a', 'b', 'c'), epoch: fc.nat(3) });
  fc.assert(
    fc.property(owners, owners, (one, other) => {
      const isSame = one.coordinator === other.coordinator && one.epoch === other.epoch;
      expect([isAhead(one, other), isAhead(other, one)].filter(Boolean)).toHaveLength(
        isSame ? 0 : 1,
      );
      if (one.epoch > other.epoch) expect(isAhead(one, other)).toBe(true);
    }),
  );
});
