/** Tests which changes of lock keys a node reports to the observer. */
import { expect, test } from 'vitest';
import type { KeyChange, TraceEvent } from '../../core/history/events.ts';
import type { Boot } from '../../core/world/server.ts';
import { RedisNode } from './node.ts';

type Said = readonly [client: string, command: string, message?: string];

/**
 * Returns the report on the last command: `removed l by bob of alice`, or `removed? …` if the
 * command had no effect.
 */
function changesAfter(said: readonly Said[]): readonly string[] {
  const node = new RedisNode({ lockKeys: ['l*'] });
  let changes: string[] = [];
  for (const [at, [client, command, message = `${client}/1/${at}`]] of said.entries()) {
    changes = [];
    node.handle(
      { session: client, command: command.split(' ') },
      {
        wallUs: at * 1000,
        atUs: at * 1000,
        client,
        message,
        server: 'lock',
        trueTimeOf: (_, us) => us,
        observe: (event) => {
          if (event.kind !== 'key-change') return;
          const { change, key, isDone, holder } = event;
          changes.push(
            `${change}${isDone ? '' : '?'} ${key} by ${client} of ${holder || 'nobody'}`,
          );
        },
      },
    );
  }
  return changes;
}

const TAKEN: Said = ['alice', 'SET l locked NX PX 100'];

test.each([
  ['SET l locked', 'overwritten'],
  ['SET l locked XX PX 50', 'overwritten'],
  ['SET l locked KEEPTTL', 'overwritten'],
  ['SETEX l 9 locked', 'overwritten'],
  ['GETSET l locked', 'overwritten'],
  ['MSET l locked', 'overwritten'],
  ['SETRANGE l 0 locked', 'overwritten'],
  ['PEXPIRE l 50', 'prolonged'],
  ['EXPIREAT l 9', 'prolonged'],
  ['PERSIST l', 'prolonged'],
  ['GETEX l PX 50', 'prolonged'],
  ['DEL l', 'removed'],
])('%s by another client is reported as %s, whatever the value', (command, change) => {
  expect(changesAfter([TAKEN, ['bob', command]])).toEqual([`${change} l by bob of alice`]);
});

test('a lock may be in any database, and differs per database', () => {
  const inThird: readonly Said[] = [['alice', 'SELECT 3'], TAKEN, ['bob', 'SELECT 3']];
  expect(changesAfter([...inThird, ['bob', 'DEL l']])).toEqual(['removed l by bob of alice']);
  const inBoth: readonly Said[] = [...inThird, ['bob', 'SELECT 0'], ['bob', 'SET l own NX']];
  expect(changesAfter([...inBoth, ['bob', 'DEL l']])).toEqual(['removed l by bob of bob']);
  const back: readonly Said[] = [...inBoth, ['bob', 'SELECT 3'], ['bob', 'PEXPIRE l 9']];
  expect(changesAfter(back)).toEqual(['prolonged l by bob of alice']);
  expect(changesAfter([...inBoth, ['bob', 'SELECT 3'], ['bob', 'DEL l2']])).toEqual([]);
});

test.each(['SET l locked XX PX 50', 'PEXPIRE l 50'])(
  '%s by the holder extends the lock, in a later section',
  (command) => {
    const later: Said = ['alice', command, 'alice/2/set/1'];
    expect(changesAfter([TAKEN, later])).toEqual(['prolonged l by alice of alice']);
  },
);

test('a new value extends the lock only in the section that took it', () => {
  const words = 'SET l heartbeat-2 XX PX 50';
  const renewal: Said = ['alice', words, 'alice/1/set-2/1'];
  expect(changesAfter([TAKEN, renewal])).toEqual(['prolonged l by alice of alice']);
  const other: Said = ['alice', words, 'alice/2/set/1'];
  expect(changesAfter([TAKEN, other])).toEqual(['overwritten l by alice of alice']);
});

/** Returns a script that calls one command. It contains no spaces, so it is a single argument. */
function scriptOf(command: string): string {
  const words = command.split(' ').map((word) => `'${word}'`);
  return `return\tredis.call(${words.join(',')})`;
}

const ACQUIRE = "if redis.call('exists', KEYS[1]) == 0 then redis.call('set', KEYS[1], 1) end";

test.each(['SET l other NX PX 100', 'SETNX l other', `EVAL ${ACQUIRE.replaceAll(' ', '\t')} 1 l`])(
  '%s of a held key is denied, and reported once per client and holding',
  (command) => {
    const bob: Said = ['bob', command];
    const denied = ['taken? l by bob of alice'];
    expect(changesAfter([TAKEN, bob])).toEqual(denied);
    expect(changesAfter([TAKEN, bob, bob])).toEqual([]);
    expect(changesAfter([TAKEN, bob, ['carol', command]])).toEqual(['taken? l by carol of alice']);
    const retaken: readonly Said[] = [TAKEN, bob, ['alice', 'DEL l'], TAKEN, bob];
    expect(changesAfter(retaken)).toEqual(denied);
    expect(changesAfter([['alice', 'SET l locked'], bob])).toEqual([]);
  },
);

test('each change in a transaction that has no effect is reported', () => {
  const both: readonly Said[] = [TAKEN, ['alice', 'SET l2 locked NX'], ['alice', 'DEL l l2']];
  const queued: readonly Said[] = [
    ...both,
    ['alice', 'MULTI'],
    ['alice', 'DEL l'],
    ['alice', 'PEXPIRE l2 50'],
    ['alice', 'GET l'],
    ['alice', 'EXEC'],
  ];
  expect(changesAfter(queued)).toEqual([
    'removed? l by alice of nobody',
    'prolonged? l2 by alice of nobody',
  ]);
});

const SCRIPT = 'return(redis.call("del",KEYS[1]))';

test.each(['DEL l', 'PEXPIRE l 50', `EVAL ${SCRIPT} 1 l`])(
  '%s in another database reports nothing about the lock',
  (command) => {
    expect(changesAfter([TAKEN, ['alice', 'SELECT 1'], ['alice', command]])).toEqual([]);
  },
);

test('a script without effect in the database of locks is reported', () => {
  const gone: readonly Said[] = [TAKEN, ['bob', 'DEL l'], ['alice', `EVAL ${SCRIPT} 1 l`]];
  expect(changesAfter(gone)).toEqual(['removed? l by alice of nobody']);
});

test.each([
  ['l', ['removed l by bob of alice']],
  ['other', []],
])('a script that sets a key takes it if it is a lock key: %s', (key, lockKey) => {
  const text = "return redis.call('set',KEYS[1],ARGV[1])".replaceAll(' ', '\t');
  const script: Said = ['alice', `EVAL ${text} 1 ${key} locked`];
  expect(changesAfter([script, ['bob', `DEL ${key}`]])).toEqual(lockKey);
});

test.each([
  ['EVAL', "if redis.call('exists',KEYS[1])==0 then redis.call('set',KEYS[1],ARGV[1]) end"],
  ['EVAL', "redis.call('hset',KEYS[1],'owner',ARGV[1]) redis.call('pexpire',KEYS[1],50)"],
  ['EVAL', "redis.call('hincrby',KEYS[1],ARGV[1],1)"],
])('a script that creates a lock key takes the lock', (name, script) => {
  const node = new RedisNode({ lockKeys: ['l*'] });
  const { changes, at } = observed();
  node.handle({ session: 'alice', command: [name, script, '1', 'l', 'mine'] }, at('alice', 1));
  expect(changes.map(({ change }) => change)[0]).toBe('taken');
});

test.each([
  ['SET l free', 'SET l alice NX'],
  ['HSET l until 0', 'HSET l until 9'],
])('a key without expiry has no holder after its own `%s`', (release, taking) => {
  const takes: Said = ['alice', `EVAL ${scriptOf(taking)} 1 l`];
  expect(changesAfter([takes, ['alice', release]])).toEqual(['untracked l by alice of alice']);
  expect(changesAfter([takes, ['alice', release], ['bob', release.replace('0', '5')]])).toEqual([]);
});

test('a key without expiry has no holder after a script of another client changed it', () => {
  const endless: Said = ['alice', 'SET l locked NX'];
  const script: Said = ['bob', `EVAL ${scriptOf('SET l stolen')} 1 l`];
  expect(changesAfter([endless, script])).toEqual(['untracked l by bob of alice']);
  // With an expiry, or by a plain command, the change is an overwrite.
  expect(changesAfter([TAKEN, script])).toEqual(['overwritten l by bob of alice']);
  expect(changesAfter([endless, ['bob', 'SET l stolen']])).toEqual([
    'overwritten l by bob of alice',
  ]);
});

test('a hash has no holder after a second client adds to it', () => {
  expect(
    changesAfter([
      ['alice', 'HSETNX l alice 1'],
      ['bob', 'HSETNX l bob 1'],
    ]),
  ).toEqual(['untracked l by bob of alice']);
  const both: readonly Said[] = [
    ['alice', 'HSETNX l alice 1'],
    ['bob', 'HSETNX l bob 1'],
    ['bob', 'DEL l'],
  ];
  expect(changesAfter(both)).toEqual([]);
  const changes: readonly Said[] = [
    ['alice', 'HSETNX l owner alice'],
    ['bob', 'HSET l owner bob'],
  ];
  expect(changesAfter(changes)).toEqual(['overwritten l by bob of alice']);
});

/** Collects the key changes that a node reports. */
function observed() {
  const changes: KeyChange[] = [];
  const observe = (event: TraceEvent): void => {
    if (event.kind === 'key-change') changes.push(event);
  };
  const at = (client: string, ms: number) => ({
    wallUs: ms * 1000,
    monotonicUs: ms * 1000,
    atUs: ms * 1000,
    client,
    message: `${client}/${ms}`,
    server: 'lock',
    trueTimeOf: (_: string, us: number) => us,
    lifetimeUs: (us: number) => us,
    observe,
  });
  return { changes, at };
}

test.each([
  ['restart', (node: RedisNode, boot: Boot): void => node.restart(boot)],
  ['eviction', (node: RedisNode, boot: Boot): boolean => node.evict('l', boot)],
])('a key that is gone after a %s is lost, by no client', (_, forget) => {
  const node = new RedisNode({ lockKeys: ['l*'] });
  const { changes, at } = observed();
  node.handle(['SET', 'l', 'a', 'NX', 'PX', '100'], at('alice', 1));
  node.handle(['SET', 'l2', 'a', 'NX', 'PX', '2'], at('alice', 1));
  forget(node, at('', 5));
  expect(changes.slice(2)).toMatchObject([
    { key: 'l', change: 'lost', client: '', holder: 'alice', isDone: true },
  ]);
});

test('a replica that takes over has lost the keys that it was not sent', () => {
  const node = new RedisNode({ lockKeys: ['l*'] });
  const { changes, at } = observed();
  node.handle(['SET', 'l', 'a', 'NX'], at('alice', 1));
  const restore = node.snapshot();
  node.handle(['SET', 'l2', 'b', 'NX'], at('bob', 2));
  restore();
  node.restart(at('', 5));
  expect(changes.slice(2)).toMatchObject([{ key: 'l2', change: 'lost', holder: 'bob' }]);
});
