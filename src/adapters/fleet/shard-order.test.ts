import { expect, test } from 'vitest';
import { smallScenario } from '../../search/campaign/small-scenario.fixture.ts';
import { originOf } from '../../search/sweep/checksummed.ts';
import { jobIdOf, readOrder, type ShardOrder, sweepIdOf } from './shard-order.ts';

function orderOf(change: Partial<ShardOrder> = {}, version: string = '1.0.0'): ShardOrder {
  const scenario = {
    origin: originOf(smallScenario(), version),
    text: 'name: small',
  };
  return {
    range: { from: 1, to: 99 },
    shard: { index: 2, of: 3 },
    scenarios: [scenario],
    ...change,
  };
}

const idOf = (order: ShardOrder): string => jobIdOf(sweepIdOf(order), order.shard);

test('a job is read as it was written, and only under its own id', () => {
  const order = orderOf();
  const written: unknown = JSON.parse(JSON.stringify(order));
  expect(readOrder(idOf(order), written)).toEqual(order);
  expect(JSON.stringify(readOrder(idOf(order), written))).toBe(JSON.stringify(order));
  for (const id of [undefined, '7', idOf(orderOf({ shard: { index: 3, of: 3 } }))]) {
    expect(readOrder(id, written)).toBe('the id of this job does not match its contents');
  }
});

test('the id of a sweep depends on everything that its result depends on, and on no more', () => {
  const [scenario] = orderOf().scenarios;
  if (scenario === undefined) throw new Error('there is one');
  const { origin } = scenario;
  const others = [
    orderOf({ range: { from: 1, to: 98 } }),
    orderOf({}, '1.0.1'),
    orderOf({ scenarios: [scenario, scenario] }),
    orderOf({ scenarios: [{ ...scenario, text: 'name: other' }] }),
    orderOf({
      scenarios: [{ ...scenario, origin: { ...origin, modules: { './m.mjs': 'sha256:0' } } }],
    }),
  ];
  const ids = [orderOf(), ...others].map(sweepIdOf);
  expect(new Set(ids).size).toBe(ids.length);
  expect(sweepIdOf(orderOf({ shard: { index: 1, of: 8 } }))).toBe(ids[0]);
});

test('an invalid order is refused with the place of its mistake', () => {
  const order = orderOf();
  for (const [data, where] of [
    [null, ''],
    [{ garbage: true }, 'range is missing'],
    [{ ...order, shard: { index: 4, of: 3 } }, 'shard is above the number of shards'],
    [{ ...order, shard: { index: 1, of: 10_001 } }, 'shard.of'],
    [{ ...order, range: { from: 9, to: 1 } }, 'range is empty'],
    [{ ...order, scenarios: [] }, 'scenarios'],
    [{ ...order, more: 1 }, 'more'],
  ] as const) {
    const read = readOrder(idOf(order), data);
    expect(read).toMatch(/^not a job written by fencepost: /);
    expect(read).toContain(where);
  }
});
