/** Runs clients of a plan with code from a test, on a lock that protects nothing. */
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

/** A test's code for each section of a client; `echo` is a server that the code may call. */
export type Body = (section: AsyncSection, client: AsyncClient, echo: EchoPort) => Promise<void>;

/**
 * Returns a catalogue with a lock whose clients run `body`; `start` runs as each incarnation
 * begins.
 */
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

/** Returns the client alice, with `count` sections of `work`. */
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
  /** Called with the grant number of each call to the server. */
  readonly onAsked?: (under: number) => void;
}

export function happen(body: Body, { start, onAsked, ...setup }: Setup = {}): Promise<Trace> {
  const clients = setup.clients ?? [alice(2, [write])];
  const plan = planOf({ lock: 'own', store: 'unfenced', ...setup, clients });
  return runAsync(plan, catalogueOf(body, start, onAsked));
}
