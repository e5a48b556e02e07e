/** Runs clients of a plan whose code is what a test gives, before a lock that is none. */
import { builtIn, type Catalogue, extend } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { ClientPlan, SectionPlan, Work } from '../../core/plan/plan.ts';
import type { Port } from '../../core/world/port.ts';
import type { Turn } from '../../core/world/server.ts';
import { defineSystem } from '../../define-system.ts';
import { clientOf, MS, type PlanSetup, planOf, writeOf } from '../../systems/plan.fixture.ts';
import type { AsyncClient, AsyncSection } from '../../systems/protocol.ts';
import { runAsync } from './run-async.ts';

export type EchoPort = Port<null, number>;

/** What a test's client does in each section; `echo` is a server that it may call. */
export type Body = (section: AsyncSection, client: AsyncClient, echo: EchoPort) => Promise<void>;

/** A lock whose client is `body`; `start` runs as each life of a process begins. */
export function catalogueOf(
  body: Body,
  start?: Setup['start'],
  onAsked?: Setup['onAsked'],
): Catalogue {
  return extend(
    builtIn,
    defineSystem({
      locks: {
        own: {
          about: 'a lock that is none',
          buildAsync: (world) => {
            const handle = (_: null, { under }: Pick<Turn, 'under'>): number => {
              onAsked?.(under);
              return 1;
            };
            const echo: EchoPort = {
              host: world.addServer({ name: 'lock', role: 'lock' }, { handle }),
              describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }),
              describeReply: (value) => ({ kind: 'value', value }),
            };
            return (client) => {
              start?.(client, echo);
              return (section) => body(section, client, echo);
            };
          },
        },
      },
    }),
  );
}

export const write: Work = writeOf(7);

/** alice, with so many sections of `work`. */
export function alice(
  count: number,
  work: readonly Work[],
  more: Partial<ClientPlan> = {},
): ClientPlan {
  const sections = Array.from({ length: count }, (_, at): SectionPlan => {
    return { id: at + 1, thinkUs: MS, lock: 'db', work };
  });
  return { ...clientOf('alice', []), ...more, sections };
}

export interface Setup extends Partial<PlanSetup> {
  readonly start?: (client: AsyncClient, echo: EchoPort) => void;
  /** Told under which grant the server was called. */
  readonly onAsked?: (under: number) => void;
}

export function happen(body: Body, { start, onAsked, ...setup }: Setup = {}): Promise<Trace> {
  const clients = setup.clients ?? [alice(2, [write])];
  const plan = planOf({ lock: 'own', store: 'unfenced', ...setup, clients });
  return runAsync(plan, catalogueOf(body, start, onAsked));
}
