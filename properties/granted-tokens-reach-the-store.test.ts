/**
 * Law: the fencing token of a grant arrives at the store with each access under that grant. Without
 * it the store fences nothing, and no other check would detect that.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import type { Answer } from '../src/core/history/call.ts';
import type { Trace } from '../src/core/history/trace.ts';
import type { Program } from '../src/core/world/program.ts';
import type { Server, Turn } from '../src/core/world/server.ts';
import { defineSystem } from '../src/define-system.ts';
import { examine } from '../src/harness.ts';
import { loadScenario } from '../src/load.ts';
import { run } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import { GrantRecorder } from '../src/systems/grant-recorder.ts';
import { askLock, enterLock } from '../src/systems/lease.ts';
import type { LockDefinition, Section } from '../src/systems/protocol.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { calm, calmScenario, calmTitle } from './verdict-table/calm.ts';

/** Tokens by grant number; a renewal may add one. */
function grantedIn({ events }: Trace): ReadonlyMap<number, readonly number[]> {
  const tokens = new Map<number, number[]>();
  for (const event of events) {
    if (event.kind !== 'grant' && event.kind !== 'renew') continue;
    const grant = event.kind === 'grant' ? event.ordinal : event.extended;
    if (event.token > 0) tokens.set(grant, [...(tokens.get(grant) ?? []), event.token]);
  }
  return tokens;
}

/** Counts entries and accesses with a token of their grant, and lists those without. */
function arrivalsIn(trace: Trace): { readonly arrived: number; readonly lost: readonly string[] } {
  const granted = grantedIn(trace);
  const lost: string[] = [];
  let arrived = 0;
  for (const event of trace.events) {
    const isEntry = event.kind === 'enter';
    if (!isEntry && event.kind !== 'write' && event.kind !== 'read') continue;
    const tokens = granted.get(isEntry ? event.ordinal : event.under);
    if (tokens === undefined) continue;
    if (tokens.includes(event.token)) arrived += 1;
    else lost.push(`${event.kind} at ${event.atUs}: ${event.token}, granted ${tokens.join(', ')}`);
  }
  return { arrived, lost };
}

/** Locks that grant tokens, by default or with these options. */
const GRANT_TOKENS: readonly string[] = [
  'lock-service',
  'lock-service-published',
  'etcd',
  'zookeeper',
  'lease-dynamodb',
  'lease-memcached',
  'lease-redis',
  'lease-dynamodb-published',
  'lease-memcached-published',
  'lease-redis-published',
  'postgres token: sequence',
];

describe('the tokens that a built-in lock grants reach the store', () => {
  beforeAll(() => prepare(calm.flatMap(({ stores }) => stores.map((store) => ({ store })))));

  const titled = calm.map((system) => [calmTitle(system), system] as const);
  test.each(titled)('%s', (title, system) => {
    let all = 0;
    for (const work of system.works) {
      const scenario = calmScenario(system, work);
      for (const { name } of scenario.systems) {
        const { arrived, lost } = arrivalsIn(run(expand(scenario, name, 1)));
        expect(lost).toEqual([]);
        all += arrived;
      }
    }
    if (GRANT_TOKENS.includes(title)) expect(all).toBeGreaterThan(0);
  });
});

type Ask = { readonly verb: 'acquire' | 'release'; readonly lock: string };
type Reply = Extract<Answer, { readonly kind: 'granted' | 'denied' | 'released' }>;

/** The server of the recipe for a lock, with a lease and a token that increases. */
class Counting implements Server<Ask, Reply> {
  private readonly holders: Map<string, { readonly client: string; readonly endUs: number }> =
    new Map();
  private readonly recorder: GrantRecorder = new GrantRecorder('lock');
  private token = 0;

  handle({ verb, lock }: Ask, turn: Turn<Reply>): Reply {
    const { client } = turn;
    const held = this.holders.get(lock);
    const holder = held !== undefined && held.endUs > turn.monotonicUs ? held.client : null;
    if (verb === 'release') {
      const isEffective = holder === client && this.holders.delete(lock);
      this.recorder.release(turn, { lock, client, isEffective });
      return { kind: 'released' };
    }
    if (holder !== null) {
      this.recorder.deny(turn, { lock, client, holder });
      return { kind: 'denied', holder };
    }
    this.token += 1;
    const { token } = this;
    const endUs = turn.monotonicUs + TTL_US;
    this.holders.set(lock, { client, endUs });
    this.recorder.grant(turn, { lock, client, token, ttlUs: TTL_US, untilUs: endUs });
    return { kind: 'granted', token };
  }
}

const TTL_US = 20_000;

/** The client of the recipe; `grants` converts the token of the reply. */
function counting(grants: (token: number) => number | null): LockDefinition {
  return {
    about: 'the recipe, with tokens',
    build: (world) => {
      const server = world.addServer({ name: 'lock', role: 'lock' }, new Counting());
      const ask = (
        at: Section,
        verb: Ask['verb'],
        id: number,
      ): ReturnType<typeof askLock<Ask, Reply>> => {
        const request = { verb, lock: at.section.lock };
        return askLock(at, { verb, id, server, request, means: (reply) => reply });
      };
      return () => ({
        *acquire(at: Section, attempt: number): Program<boolean> {
          const outcome = yield* ask(at, 'acquire', attempt);
          if (outcome.reply?.kind !== 'granted') return false;
          enterLock(at, outcome, { token: grants(outcome.reply.token) });
          return true;
        },
        *release(at: Section): Program<void> {
          yield* ask(at, 'release', 1);
        },
      });
    },
  };
}

const catalogue = extend(
  builtIn,
  defineSystem({
    locks: { recipe: counting((token) => token), careless: counting(() => null) },
  }),
);

const read = loadScenario(
  `
name: recipe
systems: { recipe: { lock: recipe, store: fenced }, careless: { lock: careless, store: fenced } }
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: blind-writes }
faults: [{ pause: { process: clients, before: write, for: 1ms..60ms, chance: 1/2 } }]
`,
  'recipe.yaml',
  catalogue,
);

test.each([
  ['recipe', true],
  ['careless', false],
])('a lock like that of the recipe, %s, is fenced if it passes on its token', (lock, isFenced) => {
  if (read.kind === 'problems') return expect.fail(JSON.stringify(read.problems));
  let refused = 0;
  let lostTokens = 0;
  for (let seed = 0; seed < 40; seed += 1) {
    const { trace, verdicts } = examine(
      expand(read.scenario, lock, seed),
      ['fence-monotone'],
      catalogue,
    );
    if (isFenced) expect(verdicts[0]?.kind).not.toBe('invalid');
    refused += trace.events.filter((one) => one.kind === 'write' && !one.isAccepted).length;
    lostTokens += arrivalsIn(trace).lost.length;
  }
  expect(refused > 0).toBe(isFenced);
  expect(lostTokens > 0).toBe(!isFenced);
});
