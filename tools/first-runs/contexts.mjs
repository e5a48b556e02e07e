// Locks that each use one part of `node:async_hooks` and fail if their context is lost, also after
// a server's answer, a timer, a tick and an event of an emitter.
import {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  triggerAsyncId,
} from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { defineSystem } from 'fencepost';
import { RedisClient, RedisNode } from 'fencepost/redis';

const storage = new AsyncLocalStorage();

function requireStore(expected) {
  const store = storage.getStore();
  if (store !== expected) throw new TypeError(`the store is ${store}, not ${expected}`);
}

/** Calls `check` after each wait of a program, and in the callbacks that it passes meanwhile. */
async function everywhere(check) {
  await wait(1);
  check();
  for (const later of [(go) => setTimeout(go, 1), process.nextTick, setImmediate, queueMicrotask]) {
    await new Promise((done) => later(() => done(check())));
    check();
  }
  const emitter = new EventEmitter();
  emitter.on('done', check);
  setTimeout(() => emitter.emit('done'), 1);
  await once(emitter, 'done');
  check();
}

const uses = {
  run: (name, section) =>
    storage.run(name, async () => {
      await everywhere(() => requireStore(name));
      await section();
      requireStore(name);
    }),
  enterWith: async (name, section) => {
    // Other sections, processes and runs must not be visible.
    requireStore(undefined);
    storage.enterWith(name);
    await everywhere(() => requireStore(name));
    await section();
    requireStore(name);
  },
  exit: (name, section) =>
    storage.run(name, async () => {
      await storage.exit(() => everywhere(() => requireStore(undefined)));
      requireStore(name);
      await section();
    }),
  bind: async (name, section) => {
    const bound = storage.run(name, () => AsyncLocalStorage.bind(() => requireStore(name)));
    await everywhere(bound);
    await section();
    bound();
  },
  snapshot: async (name, section) => {
    const inStore = storage.run(name, () => AsyncLocalStorage.snapshot());
    await everywhere(() => inStore(() => requireStore(name)));
    await section();
  },
  disable: async (name, section) => {
    const own = new AsyncLocalStorage();
    await own.run(name, async () => {
      own.disable();
      await section();
      if (own.getStore() !== undefined) throw new TypeError('the store was not disabled');
    });
  },
  resource: async (name, section) => {
    const resource = storage.run(name, () => new AsyncResource('section'));
    await everywhere(() => resource.runInAsyncScope(() => requireStore(name)));
    await section();
    resource.emitDestroy();
  },
  numbers: async (_, section) => {
    // Waits make the numbers visible as times in the trace.
    await wait(executionAsyncId() % 5);
    await section();
    await wait(triggerAsyncId() % 7);
    await wait(executionAsyncId() % 5);
  },
  hook: async (_, section) => {
    const heard = [];
    const hook = createHook({ init: (id) => heard.push(id) }).enable();
    await everywhere(() => {});
    await section();
    hook.disable();
    if (heard.length === 0) throw new TypeError('the hook was never called');
  },
};

const lockOf = ([name, use]) => [
  `context-${name}`,
  {
    about: `uses ${name} of node:async_hooks`,
    operations: ['set', 'del'],
    buildAsync: (world) => {
      const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
      return (client) => {
        const redis = new RedisClient(client, node);
        return (section) =>
          use(client.name, async () => {
            const answer = await redis.set(section.lock, client.name, 'PX', section.ttlMs, 'NX');
            if (answer !== 'OK') return;
            const guard = section.guard({ untilMs: Date.now() + section.ttlMs });
            await guard.work();
            guard.leave();
            await redis.del(section.lock);
          });
      };
    },
  },
];

export default defineSystem({ locks: Object.fromEntries(Object.entries(uses).map(lockOf)) });
