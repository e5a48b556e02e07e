import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readQueueUrl, withoutSecrets } from './queue-url.ts';

test('a URL gives host, port, credentials, database and TLS', () => {
  expect(readQueueUrl('redis://127.0.0.1')).toEqual({
    kind: 'address',
    address: { host: '127.0.0.1', port: 6379 },
    shown: 'redis://127.0.0.1',
  });
  expect(readQueueUrl('rediss://me:p%40ss@[::1]:7000/3')).toEqual({
    kind: 'address',
    address: { host: '::1', port: 7000, username: 'me', password: 'p@ss', db: 3, tls: {} },
    shown: 'rediss://***@[::1]:7000/3',
  });
});

test('the message on an invalid URL never contains its password', () => {
  const password = 'hunter2secret';
  for (const url of [
    `redis://me:${password}@host/none`,
    `redis://me:${password}@host/0?family=6`,
    `redis://me:${password}%@host`,
    `http://me:${password}@host`,
    `redis://me:${password}@`,
    `me:${password}@host`,
    `postgres://me:${password}@host/db`,
  ]) {
    const read = readQueueUrl(url);
    expect(read.kind, url).toBe('problem');
    expect(JSON.stringify(read)).not.toContain(password);
  }
});

test('no shown text contains the password, for any password', () => {
  const passwords = fc.string({ minLength: 6, maxLength: 30 }).filter((text) => text.trim() !== '');
  const schemes = fc.constantFrom('redis', 'rediss');
  fc.assert(
    fc.property(passwords, schemes, (password, scheme) => {
      const url = `${scheme}://user:${encodeURIComponent(password)}@host:1234/2`;
      const read = readQueueUrl(url);
      if (read.kind === 'problem') throw new Error(read.what);
      expect(read.address.password).toBe(password);
      expect(read.shown).toBe(`${scheme}://***@host:1234/2`);
      const masked = withoutSecrets(`ERR at ${url}: invalid ${password} given`, read.address);
      expect(masked).not.toContain(encodeURIComponent(password));
      expect(masked).not.toContain(` ${password} `);
    }),
  );
});
