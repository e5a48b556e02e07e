/** The pessimistic lock as a protocol. */
import type { OptionInfo, Protocol } from '../protocol.ts';
import { PessimisticDriver } from './driver.ts';
import { PessimisticServer } from './lock-server.ts';

const NAME = 'lock';

const options: readonly OptionInfo[] = [
  {
    name: 'onDeadlock',
    values: ['wait', 'abort'],
    fallback: 'wait',
    about:
      'whether a request that closes a circle waits for ever (a deadlock, seen only with lockTimeout: never), or is denied and tried again',
  },
];

export const pessimistic: Protocol = {
  about: 'held until released, no ttl; who waits stands in line, and circles are detected',
  source: 'Gray and Reuter, Transaction Processing, chapters 7 and 8',
  options,
  servers: () => [NAME],
  takesSeveral: true,
  waitsInLine: true,
  canRenew: false,
  unpromised: [],
  build: (world, given) => {
    const onDeadlock = given.word('onDeadlock') === 'abort' ? 'abort' : 'wait';
    const host = world.addServer(
      { name: NAME, role: 'lock' },
      new PessimisticServer(NAME, { onDeadlock }),
    );
    return (client) => new PessimisticDriver(client.name, host);
  },
};
