import { describe, expect, it } from 'vitest';
import { zombieFinding, zombieTrace } from '../sample.fixture.ts';
import { stormTrace } from '../storm.fixture.ts';
import { layOut, yAt } from './layout.ts';

const { evidence } = zombieFinding.verdict;
const base = { claim: 'fence-monotone', faults: [], mostDrawn: 2000 };

describe('layOut', () => {
  const options = { ...base, evidence };
  const layout = layOut(zombieTrace, options);

  it('never places a later event above an earlier one', () => {
    const ys = layout.items.map(({ y }) => y);
    expect(ys).toEqual([...ys].sort((left, right) => left - right));
  });

  it('places two labels of one process in separate rows', () => {
    const taken = layout.items
      .filter(({ label }) => label !== '')
      .map(({ step, y }) => `${step.process} ${y}`);
    expect(new Set(taken).size).toBe(taken.length);
  });

  it('orders lanes as locks, clients, stores', () => {
    expect([...layout.lanes.keys()]).toEqual(['lock', 'alice', 'bob', 'store']);
    const xs = [...layout.lanes.values()].map(({ x }) => x);
    expect(xs).toEqual([...xs].sort((left, right) => left - right));
  });

  it('keeps neighboring heads separate, however long their names are', () => {
    const names = ['alice', 'bob'].map((name) => name.repeat(30));
    const processes = zombieTrace.processes.map((process, at) => ({
      ...process,
      name: names[at] ?? process.name,
    }));
    const rename = (name: string): string =>
      processes[['alice', 'bob'].indexOf(name)]?.name ?? name;
    const events = zombieTrace.events.map((event) =>
      'process' in event ? { ...event, process: rename(event.process) } : event,
    );
    const lanes = [...layOut({ ...zombieTrace, processes, events }, options).lanes.values()];
    const [lock, alice, bob] = lanes.map(({ x }) => x);
    expect((alice ?? 0) - (lock ?? 0)).toBeGreaterThan(12 * 9);
    expect((bob ?? 0) - (alice ?? 0)).toBeGreaterThan(20 * 9);
  });

  it('puts an instant without an event between its neighbors', () => {
    const [before, between, after] = [3_000, 7_000, 11_000].map((atUs) => yAt(layout, atUs));
    expect(before).toBeLessThan(between ?? 0);
    expect(between).toBeLessThan(after ?? 0);
  });

  it('ends soon after the violation and before the world heals', () => {
    const write = stormTrace.events.findIndex((event) => event.kind === 'write');
    const parts = [{ role: 'stale write', event: write }];
    expect(Math.max(...layOut(stormTrace, { ...base, evidence: parts }).yOf.keys())).toBe(
      write + 8,
    );
  });
});
