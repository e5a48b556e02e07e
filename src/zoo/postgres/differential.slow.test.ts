/** Compares the simulated advisory locks with those of a real PostgreSQL, for the same requests. */
import { setTimeout as wait } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { postgresPrograms, RealPostgres, type RealSession } from './real-postgres.fixture.ts';
import { AdvisoryLocks } from './server.ts';

const programs = await postgresPrograms();
const law = needs('postgres', programs !== null);
vi.setConfig({ testTimeout: 60_000, hookTimeout: 30_000 });

let real: RealPostgres | null = null;
beforeAll(async () => {
  real = programs === null ? null : await RealPostgres.start(programs);
});
afterAll(() => real?.stop());

const NAMES = ['alice', 'bob', 'carol'] as const;
const step = fc.record({
  who: fc.constantFrom(...NAMES),
  lock: fc.integer({ min: 1, max: 2 }),
  deed: fc.constantFrom('lock', 'lock', 'unlock', 'unlock-all', 'transaction', 'close'),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The simulated server, with a session per client. */
class Simulated {
  private readonly locks: AdvisoryLocks<object> = new AdvisoryLocks();
  private readonly sessions: Map<string, object> = new Map();

  answer({ who, lock, deed }: Step): string {
    const session = this.sessions.get(who) ?? {};
    this.sessions.set(who, session);
    const name = String(lock);
    if (deed === 'lock') return shown(this.locks.tryLock(session, name));
    if (deed === 'unlock') return shown(this.locks.unlock(session, name));
    if (deed === 'transaction') {
      // The lock ends with its transaction, unless the session itself holds it.
      const isGiven = this.locks.tryLock(session, name);
      if (isGiven) this.locks.unlock(session, name);
      return shown(isGiven);
    }
    this.locks.unlockAll(session);
    if (deed === 'close') this.sessions.delete(who);
    return '';
  }
}

function shown(is: boolean): string {
  return is ? 't' : 'f';
}

/** A real server, with other lock numbers in each run. */
class Real {
  private readonly postgres: RealPostgres;
  private readonly run: number;
  private readonly sessions: Map<string, RealSession> = new Map();

  constructor(postgres: RealPostgres, run: number) {
    this.postgres = postgres;
    this.run = run;
  }

  async answer({ who, lock, deed }: Step): Promise<string> {
    const session = this.sessions.get(who) ?? this.postgres.connect();
    this.sessions.set(who, session);
    const key = `${this.run}, ${lock}`;
    switch (deed) {
      case 'lock':
        return await session.ask(`select pg_try_advisory_lock(${key})`);
      case 'unlock':
        return await session.ask(`select pg_advisory_unlock(${key})`);
      case 'unlock-all':
        return await session.ask('select pg_advisory_unlock_all()');
      case 'transaction': {
        const given = await session.ask(`begin; select pg_try_advisory_xact_lock(${key})`);
        await session.ask("commit; select 'done'");
        return given;
      }
      default:
        await session.close();
        this.sessions.delete(who);
        await this.untilGone(key);
        return '';
    }
  }

  /** Waits for the backend, which ends shortly after its client. */
  private async untilGone(key: string): Promise<void> {
    const watcher = this.sessions.get('watcher') ?? this.postgres.connect();
    this.sessions.set('watcher', watcher);
    const others = `select count(*) from pg_stat_activity where backend_type = 'client backend'`;
    for (let tries = 0; tries < 200; tries += 1) {
      if (Number(await watcher.ask(others)) <= this.sessions.size) return;
      await wait(5);
    }
    throw new Error(`a session that held ${key} does not end`);
  }

  async end(): Promise<void> {
    for (const session of this.sessions.values()) await session.close();
    this.sessions.clear();
  }
}

law('a real PostgreSQL gives the same answers, for any sequence of steps', async () => {
  const postgres = real;
  if (postgres === null) expect.fail('there is none');
  let runs = 0;
  const steps = fc.array(step, { minLength: 4, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(steps, async (done) => {
      runs += 1;
      const [simulated, held] = [new Simulated(), new Real(postgres, runs)];
      for (const one of done) expect(await held.answer(one)).toBe(simulated.answer(one));
      await held.end();
    }),
    { numRuns: 15, seed: 1 },
  );
});
