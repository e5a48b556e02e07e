import { expect, test } from 'vitest';
import { Hosts, type Listener } from './hosts.ts';

const listener: Listener = async () => 'ECONNREFUSED';

test.each([
  ['redis-1:6379', ['redis-1:6379', 'Redis-1:6379', '10.0.0.1:6379']],
  ['localhost:6379', ['127.0.0.1:6379', '::1:6379', '[::1]:6379', 'LOCALHOST:6379']],
  ['[::1]:6379', ['localhost:6379', '::1:6379']],
  ['[fd00::1]:6379', ['fd00::1:6379', '[FD00::1]:6379']],
  ['fd00::1:6379', ['[fd00::1]:6379']],
])('the listener at %s is found under every spelling of its address', (address, written) => {
  const hosts = new Hosts();
  hosts.listen(address, listener);
  for (const one of written) expect(hosts.at(one), one).toBe(listener);
  expect(hosts.at('fd00::1:637')).toBeNull();
  expect(hosts.at('/run/redis.sock')).toBeNull();
});
