/** Common beginnings of the scripts of the document on the lock on a cache. */

/** Creates locks on one cache, whose tokens are UUIDs, and prints answers. */
export const LOCKS: string = `
import { Cache, CacheLock } from 'fencepost';
const cache = new Cache();
const newToken = () => crypto.randomUUID();
const lock = (more) => new CacheLock(cache, { key: 'db', expiration: 10, retry: 2, newToken, ...more });
const print = (what, answer) => console.log(what, JSON.stringify(answer));
`.trim();

/** A client whose memoize uses the lock that its previous section acquired and kept. */
export const HELD: string = `
import { loadPlan, run } from 'fencepost';
const text = \`
fencepost: 1
scenario: held
system: { name: held, lock: cache-lock, store: unfenced, options: { instance: client } }
clients:
  - name: alice
    releases: false
    sections:
      - { id: 1, work: [] }
      - { id: 2, work: [memoize: { for: 1ms }] }
limits: { healAt: 100ms, probe: false }
bounds: { latency: 1ms }\`;
const plan = await loadPlan({ file: 'held.yaml', text });
for (const event of (await run(plan)).events) {
  if (event.kind === 'log') console.log(event.process + ': ' + event.text);
  if (event.kind === 'invoke') console.log('calls ' + event.operation);
}
console.log('that is all');
`.trim();
