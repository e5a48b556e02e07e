import { expect, test } from 'vitest';
import { run } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../../systems/plan.fixture.ts';
import type { Fault } from '../plan/fault.ts';
import type { Server } from './server.ts';
import { World } from './world.ts';

test('a duplicated request gives its client no second grant', () => {
  const which = { kind: 'message', message: 'alice/1/acquire/1/request' } as const;
  const twice: Fault = { kind: 'duplicate', which, byUs: MS / 2 };
  const plan = planOf({ clients: [clientOf('alice', [writeOf(1)])], faults: [twice] });
  const trace = run({ ...plan, network: { ...plan.network, link: 'datagram' } });
  expect(eventsOf(trace, 'grant').map(({ ordinal, token }) => [ordinal, token])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(eventsOf(trace, 'enter')).toMatchObject([{ ordinal: 1, token: 1 }]);
});

test('only servers with snapshots fail over; only those with `evict` forget keys', () => {
  const plain: Server<null, null> = { handle: () => null, restart: () => {} };
  const snapshot = (): (() => void) => () => {};
  const world = new World(planOf({ clients: [] }), null);
  for (const [name, more] of [
    ['neither', {}],
    ['fails over', { snapshot }],
    ['forgets', { evict: () => true }],
  ] as const) {
    world.addServer({ name, role: 'store' }, { ...plain, ...more });
  }
  const found = world.allServers.map(([name, one]) => [name, one.canFailOver, one.canForget]);
  expect(found).toEqual([
    ['neither', false, false],
    ['fails over', true, false],
    ['forgets', false, true],
  ]);
});

test('the reply to a server that crashed meanwhile is lost with its connection', () => {
  const when = { kind: 'at', atUs: 4 * MS } as const;
  const crash: Fault = { kind: 'crash', process: 'store', when, restartAfterUs: MS / 10 };
  const clients = [clientOf('alice', [writeOf(1)])];
  const trace = run(planOf({ clients, store: 'check-sequencer', faults: [crash] }));
  expect(eventsOf(trace, 'lose')).toContainEqual(
    expect.objectContaining({ message: 'alice/1/write/1/check/1/reply', cause: 'reset' }),
  );
});
