/**
 * The schema of a scenario file. Only the name and the systems have no default. `readScenario`
 * checks later that the words fit together.
 */
import { z } from 'zod';
import type { Json } from '../core/kernel/json.ts';
import { clientFields, concurrencyField } from '../core/plan/client-text.ts';
import {
  closed,
  type Data,
  duration,
  hosts,
  instant,
  integer,
  name,
  odds,
  optional,
  range,
  ratio,
} from '../core/plan/fields.ts';
import { CAPS } from '../core/plan/plan.ts';
import { queueFields } from '../core/plan/queue-text.ts';
import { whyNoModulePath } from '../core/plan/used-modules.ts';
import { stepSchema } from '../core/plan/work-text.ts';
import { type ReadFault, readFaultSchema } from './read-faults.ts';

/** Names, or a number of default names. */
export type ReadNames = number | readonly string[];

/** Stands for every kind of fault that can affect a system. */
export const ALL = 'all';

const lock = z.string().max(100).describe('A lock that `fencepost list` prints, or your own.');
const STORE =
  'A store that `fencepost list` prints, or your own; …-sql needs the package node-sqlite3-wasm.';
const store = z.string().max(100).describe(STORE);
const claim = z.string().max(100).describe('A claim that `fencepost list` prints, or your own.');
const json: z.ZodType<Json> = z.json();

const system = closed('field', {
  lock,
  store,
  options: optional(z.record(z.string().max(100), json), 'Options of the lock and store.'),
  clients: optional(
    closed('field', clientFields),
    'Settings of all clients that differ in this system.',
  ),
  expect: optional(
    closed('field', {
      holds: optional(
        z.array(claim).max(100),
        'Claims that must hold on every seed, and be exercised on at least one.',
      ),
      breaks: optional(z.array(claim).max(100), 'Claims that must break on some seed.'),
      may: optional(z.array(claim).max(100), 'Claims that may break: counted, never a failure.'),
    }),
    'Expectations by which each run is judged.',
  ),
});

export type ReadSystem = Data<typeof system>;

const modulePath = z
  .string()
  .max(1_000)
  .superRefine((path, context) => {
    const problem = whyNoModulePath(path);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

function names(max: number): z.ZodType<ReadNames> {
  return z.union([integer(1, max), z.array(name).min(1).max(max)]);
}

const workload = closed('field', {
  kind: optional(
    z.union([
      z.literal('blind-writes').describe('Writes a key, or several, without reading.'),
      z.literal('read-modify-write').describe('Reads a key, adds 1 and writes it back.'),
      z.literal('transfer').describe('Moves an amount from a key of one store to another.'),
    ]),
    'Work of each section. Default blind-writes.',
  ),
  writesPerGrant: optional(integer(1, CAPS.worksPerSection), 'Default 1.'),
  awaits: optional(z.boolean(), 'Whether a write awaits its answer. Default true.'),
  locks: optional(names(100), 'Locks, or how many; each section draws one. Default db.'),
  keys: optional(names(1000), 'Keys, or how many; each step draws one. Default x.'),
  stores: optional(names(16), 'Default store; store-a and store-b for transfer.'),
  steps: optional(
    z.array(stepSchema).min(1).max(CAPS.worksPerSection),
    'The steps of every section, instead of a kind.',
  ),
})
  .refine(({ kind, steps }) => kind === undefined || steps === undefined, {
    error: 'kind and steps are mutually exclusive',
  })
  .describe('Work of a client under one grant.');

export type ReadWorkload = Data<typeof workload>;

const clientShape = {
  ...clientFields,
  sections: optional(
    integer(0, CAPS.sectionsPerClient),
    'Sections it runs. Default 3, or as many as it runs at once.',
  ),
  concurrency: concurrencyField,
  think: optional(range, 'Time before each section. Default 0ms..5ms.'),
  workload: optional(workload, 'Work under one grant. Default: the workload of all clients.'),
};
const client = closed('field', clientShape);

export type ReadClient = Data<typeof client>;

const clients = z.union([
  integer(1, CAPS.clients),
  z.array(name).min(1).max(CAPS.clients),
  closed('field', {
    count: optional(
      integer(1, CAPS.clients),
      'Number of clients, named alice, bob, carol, … Default 2.',
    ),
    names: optional(z.array(name).min(1).max(CAPS.clients), 'Names of the clients.'),
    ...clientShape,
    each: optional(z.record(name, client), 'Settings of single clients, by name.'),
  }).refine(({ count, names: nameList }) => count === undefined || nameList === undefined, {
    error: 'count and names are mutually exclusive',
  }),
]);

/** Settings that all clients share. Settings of single clients (`each`) override them. */
export type ReadClientMap = Exclude<Data<typeof clients>, number | readonly string[]>;

const drift = z
  .string()
  .regex(/^\d{1,6}ppm$/, { error: 'expected a rate such as 200ppm' })
  .transform((text) => Number(text.slice(0, -3)));

const duplicates = closed('field', {
  chance: odds.describe('For each message separately.'),
  after: optional(range, 'Delay after the first delivery. Default 0s.'),
});

/** The schema of a scenario file. */
export const scenarioFileSchema = closed('field', {
  name: name.describe('Name of the scenario in reports.'),
  description: optional(z.string().max(10_000), 'Purpose of the scenario, in a sentence or two.'),
  use: optional(
    z.union([modulePath, z.array(modulePath).min(1).max(16)]),
    'Modules with your own systems, below the folder of this file: ./my-lock.mjs.',
  ),
  systems: z
    .record(name, system)
    .describe('The systems to compare, by name: the same seeds run against each.'),
  hosts: optional(
    hosts,
    'Addresses of servers, for code with its own drivers: { redis-1:6379: lock }.',
  ),
  clients: optional(clients, 'A count, names, or settings. Default 2.'),
  workload: workload.optional(),
  queue: optional(
    closed('field', {
      ...queueFields,
      duplicates: optional(duplicates, 'Chance that it delivers a message twice, without a fault.'),
    }),
    'Delivers steps to workers at least once; requires transition steps.',
  ),
  network: optional(
    closed('field', {
      link: optional(z.enum(['connection', 'datagram']), 'Default connection, like TCP.'),
      latency: optional(range, 'One way. Default 1ms..3ms.'),
    }),
    'Link type and latency of messages.',
  ),
  jitter: optional(
    ratio,
    'Largest extension of a backoff: 25%. Default: that of the lock, usually 0.',
  ),
  faults: optional(
    z.union([
      z.literal(ALL).describe('Every kind that can affect a system, each with low odds.'),
      z.array(readFaultSchema).max(100),
    ]),
    'Faults to inject.',
  ),
  swarm: optional(
    z.boolean(),
    'Whether each seed enables only a random subset of the fault kinds. Default true.',
  ),
  clocks: optional(
    closed('field', {
      skew: optional(
        duration,
        'Guaranteed bound on the clock error. A fault may explicitly exceed it.',
      ),
      drift: optional(
        drift,
        'Guaranteed bound on the rate error: 200ppm. A fault may explicitly exceed it.',
      ),
    }),
    'Clock properties that the systems may assume.',
  ),
  epoch: optional(
    instant,
    'Initial time of wall clocks. Default 2024-01-01 for asynchronous code, otherwise 0.',
  ),
  time: optional(duration, 'Time at which the world heals. Default long enough for the work.'),
  slack: optional(duration, 'Time, beyond 2 × ttl, within which the probe must get the lock.'),
  probe: optional(z.boolean(), 'Whether a new client writes at the end. Default true.'),
  maxEvents: optional(
    integer(1, CAPS.maxEvents),
    'Number of events after which a run is truncated.',
  ),
});

export type ScenarioFile = Data<typeof scenarioFileSchema>;

/** A scenario file whose faults are listed. */
export interface ListedFile extends ScenarioFile {
  readonly faults: readonly ReadFault[];
}
