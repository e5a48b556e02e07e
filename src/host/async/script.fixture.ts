/**
 * A small world for tests of real asynchronous code: programs of a test, and one server, `echo`,
 * that counts its requests. Latencies are 1 ms.
 */
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Port } from '../../core/world/port.ts';
import type { Server } from '../../core/world/server.ts';
import { clientOf, type PlanSetup, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncProgram } from './async-host.ts';
import type { GlobalsOptions } from './globals.ts';
import { type Fill, runFilled } from './run-filled.ts';

type Ping = { readonly kind: 'ping' };
type Count = { readonly count: number };
export type EchoPort = Port<Ping, Count>;

/** A test's program, with the server that it may call. */
export type Script = (...given: [...Parameters<AsyncProgram>, echo: EchoPort]) => Promise<void>;

export const PING: Ping = { kind: 'ping' };

class Echo implements Server<Ping, Count> {
  private count = 0;

  handle(): Count {
    this.count += 1;
    return { count: this.count };
  }

  restart(): void {}

  snapshot(): () => void {
    return () => {};
  }

  evict(): boolean {
    return false;
  }
}

export interface ScriptSetup extends Omit<PlanSetup, 'clients'> {
  readonly chance?: Plan['chance'];
  readonly limits?: Partial<Plan['limits']>;
  readonly options?: never;
  readonly globals?: GlobalsOptions;
}

/** Runs programs, keyed by the names of their clients. */
export function happen(
  scripts: Readonly<Record<string, Script>>,
  { globals, chance = null, limits, ...setup }: ScriptSetup = {},
): Promise<Trace> {
  const clients = Object.keys(scripts).map((name) => clientOf(name, []));
  const plan = planOf({ clients, ...setup });
  const full = { ...plan, chance, limits: { ...plan.limits, ...limits } };
  return runFilled(full, fillOf(scripts), globals);
}

export function fillOf(scripts: Readonly<Record<string, Script>>): Fill {
  return (_plan, world) => {
    const host = world.world.addServer({ name: 'echo', role: 'store' }, new Echo());
    const echo: EchoPort = {
      host,
      describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }),
      describeReply: ({ count }) => ({ kind: 'value', value: count }),
    };
    for (const [name, script] of Object.entries(scripts)) {
      world.addClient(name, (context) => script(context, echo));
    }
  };
}

/** Returns the log lines of programs, as `<ms> <text>`. */
export function logOf(trace: Trace): readonly string[] {
  return trace.events.flatMap((event) =>
    event.kind === 'log' ? [`${event.atUs / 1000} ${event.text}`] : [],
  );
}
