/**
 * What a scenario file may contain. Everything but the name and the systems has a default. What the
 * words mean to one another is checked later, by `readScenario`.
 */
import { z } from 'zod';
import type { Json } from '../core/kernel/json.ts';
import { clientFields, type ReadSettings } from '../core/plan/client-text.ts';
import { closed, duration, instant, name, odds, range, ratio, whole } from '../core/plan/fields.ts';
import { CAPS, type NetworkPlan, type Odds, type RangeUs } from '../core/plan/plan.ts';
import { queueFields, type ReadQueue } from '../core/plan/queue-text.ts';
import { whyNoModulePath } from '../core/plan/used-modules.ts';
import { type ReadStep, stepSchema } from '../core/plan/work-text.ts';
import { type ReadFault, readFaultSchema } from './read-faults.ts';

export interface ScenarioFile {
  readonly name: string;
  readonly description?: string | undefined;
  readonly use?: string | readonly string[] | undefined;
  readonly systems: Readonly<Record<string, ReadSystem>>;
  readonly clients?: ReadClients | undefined;
  readonly workload?: ReadWorkload | undefined;
  readonly queue?: ReadScenarioQueue | undefined;
  readonly network?: ReadNetwork | undefined;
  readonly jitter?: Odds | undefined;
  readonly faults?: readonly ReadFault[] | undefined;
  readonly swarm?: boolean | undefined;
  readonly clocks?: ReadClocks | undefined;
  readonly epoch?: number | undefined;
  readonly time?: number | undefined;
  readonly slack?: number | undefined;
  readonly probe?: boolean | undefined;
  readonly maxEvents?: number | undefined;
}

export interface ReadSystem {
  readonly lock: string;
  readonly store: string;
  readonly options?: Readonly<Record<string, Json>> | undefined;
  readonly clients?: ReadSettings | undefined;
  readonly expect?: ReadExpect | undefined;
}

interface ReadExpect {
  readonly holds?: readonly string[] | undefined;
  readonly breaks?: readonly string[] | undefined;
}

/** A count, or names, or settings that all clients share and that `each` can differ from. */
type ReadClients = number | readonly string[] | ReadClientMap;

export interface ReadClientMap extends ReadClient {
  readonly count?: number | undefined;
  readonly names?: readonly string[] | undefined;
  readonly each?: Readonly<Record<string, ReadClient>> | undefined;
}

export interface ReadClient extends ReadSettings {
  readonly sections?: number | undefined;
  readonly think?: RangeUs | undefined;
  readonly workload?: ReadWorkload | undefined;
}

export interface ReadWorkload {
  readonly kind?: 'blind-writes' | 'read-modify-write' | 'transfer' | undefined;
  readonly writesPerGrant?: number | undefined;
  readonly awaits?: boolean | undefined;
  readonly locks?: ReadNames | undefined;
  readonly keys?: ReadNames | undefined;
  readonly stores?: ReadNames | undefined;
  readonly steps?: readonly ReadStep[] | undefined;
}

/** Names, or how many. */
export type ReadNames = number | readonly string[];

/** A plan's queue, and what is drawn of it for each seed. */
export interface ReadScenarioQueue extends ReadQueue {
  readonly duplicates?: { readonly chance: Odds; readonly after?: RangeUs | undefined } | undefined;
}

interface ReadNetwork {
  readonly link?: NetworkPlan['link'] | undefined;
  readonly latency?: RangeUs | undefined;
}

interface ReadClocks {
  readonly skew?: number | undefined;
  readonly drift?: number | undefined;
}

const lock = z.string().max(100).describe('A lock that `fencepost list` prints, or your own.');
const store = z.string().max(100).describe('A store that `fencepost list` prints, or your own.');
const claim = z.string().max(100).describe('A claim that `fencepost list` prints, or your own.');
const json: z.ZodType<Json> = z.json();

const system = closed('field', {
  lock,
  store,
  options: z
    .record(z.string().max(100), json)
    .optional()
    .describe('Options of the lock and store.'),
  clients: closed('field', clientFields).optional().describe('What all clients do differently.'),
  expect: closed('field', {
    holds: z.array(claim).max(100).optional().describe('Claims that must hold on every seed.'),
    breaks: z.array(claim).max(100).optional().describe('Claims that must break on some seed.'),
  }).optional(),
});

const modulePath = z
  .string()
  .max(1_000)
  .superRefine((path, context) => {
    const what = whyNoModulePath(path);
    if (what !== null) context.addIssue({ code: 'custom', message: what });
  });

function names(max: number): z.ZodType<ReadNames> {
  return z.union([whole(1, max), z.array(name).min(1).max(max)]);
}

const workload = closed('field', {
  kind: z
    .union([
      z.literal('blind-writes').describe('Writes a key, or several, without reading.'),
      z.literal('read-modify-write').describe('Reads a key, adds 1 and writes it back.'),
      z.literal('transfer').describe('Moves an amount from a key of one store to another.'),
    ])
    .optional()
    .describe('What each section does. Default blind-writes.'),
  writesPerGrant: whole(1, CAPS.worksPerSection).optional().describe('Default 1.'),
  awaits: z.boolean().optional().describe('Whether a write awaits its answer. Default true.'),
  locks: names(100).optional().describe('Locks, or how many; each section draws one. Default db.'),
  keys: names(1000).optional().describe('Keys, or how many; each step draws one. Default x.'),
  stores: names(16).optional().describe('Default store; store-a and store-b for transfer.'),
  steps: z
    .array(stepSchema)
    .min(1)
    .max(CAPS.worksPerSection)
    .optional()
    .describe('The steps of every section, instead of a kind.'),
})
  .refine(({ kind, steps }) => kind === undefined || steps === undefined, {
    error: 'kind and steps exclude one another',
  })
  .describe('What a client does under one grant.');

const clientShape = {
  ...clientFields,
  sections: whole(0, CAPS.sectionsPerClient).optional().describe('Sections it runs. Default 3.'),
  think: range.optional().describe('Time before each section. Default 0ms..5ms.'),
  workload: workload.optional().describe('What it does under one grant. Default as all do.'),
};

const clients = z.union([
  whole(1, CAPS.clients),
  z.array(name).min(1).max(CAPS.clients),
  closed('field', {
    count: whole(1, CAPS.clients).optional().describe('How many: alice, bob, carol, … Default 2.'),
    names: z.array(name).min(1).max(CAPS.clients).optional().describe('Their names.'),
    ...clientShape,
    each: z
      .record(name, closed('field', clientShape))
      .optional()
      .describe('What single clients do differently, by name.'),
  }).refine(({ count, names: given }) => count === undefined || given === undefined, {
    error: 'count and names exclude one another',
  }),
]);

const drift = z
  .string()
  .regex(/^\d{1,6}ppm$/, { error: 'expected a rate such as 200ppm' })
  .transform((text) => Number(text.slice(0, -3)));

/** A scenario file. */
export const scenarioFileSchema: z.ZodType<ScenarioFile> = closed('field', {
  name: name.describe('The scenario, for people and reports.'),
  description: z.string().max(10_000).optional().describe('What it shows, in a sentence or two.'),
  use: z
    .union([modulePath, z.array(modulePath).min(1).max(16)])
    .optional()
    .describe('Modules with systems of your own, below the folder of this file: ./my-lock.mjs.'),
  systems: z
    .record(name, system)
    .describe('The systems to compare, by name: the same seeds run against each.'),
  clients: clients.optional().describe('A count, names, or settings. Default 2.'),
  workload: workload.optional(),
  queue: closed('field', {
    ...queueFields,
    duplicates: closed('field', {
      chance: odds.describe('For each message by itself.'),
      after: range.optional().describe('How long after the first. Default 0s.'),
    })
      .optional()
      .describe('How often it delivers a message twice of its own accord.'),
  })
    .optional()
    .describe('Brings workers their steps, at least once; with transition steps.'),
  network: closed('field', {
    link: z.enum(['connection', 'datagram']).optional().describe('Default connection, as TCP is.'),
    latency: range.optional().describe('One way. Default 1ms..3ms.'),
  }).optional(),
  jitter: ratio
    .optional()
    .describe('How much a backoff may be lengthened: 25%. Default as the lock does, mostly 0.'),
  faults: z.array(readFaultSchema).max(100).optional().describe('What may go wrong.'),
  swarm: z
    .boolean()
    .optional()
    .describe(
      'Whether each seed enables a random subset of the kinds with a chance. Default true.',
    ),
  clocks: closed('field', {
    skew: duration
      .optional()
      .describe('Promised: no clock is further off than this. A fault may state a longer step.'),
    drift: drift
      .optional()
      .describe('Promised: none is faster or slower: 200ppm. A fault may state more.'),
  })
    .optional()
    .describe('What the systems may assume of clocks.'),
  epoch: instant
    .optional()
    .describe(
      'What wall clocks show at first: 2024-01-01. Default that for asynchronous code, else 0.',
    ),
  time: duration.optional().describe('When the world heals. Default long enough for the work.'),
  slack: duration.optional().describe('How much later than 2 × ttl the probe may be granted.'),
  probe: z.boolean().optional().describe('Whether a fresh client writes at last. Default true.'),
  maxEvents: whole(1, CAPS.maxEvents).optional().describe('A run is cut after so many events.'),
});
