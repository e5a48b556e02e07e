/**
 * Provides a YAML snippet for each entry, and lists the shipped scenarios that show the entry. The
 * examples of faults are listed below; all others come from the first scenario with the entry. A
 * snippet is a fragment of a scenario; `completeScenario` completes it.
 */
import { readFileSync } from 'node:fs';
import { Document, isMap, isPair, parse, visit } from 'yaml';
import { isRecord } from '../core/plan/document.ts';
import type { FaultKind } from '../core/plan/fault.ts';
import { loadScenario } from '../load.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import type { Entry } from './entries.ts';
import { fileMeant, shippedScenarios } from './shipped.ts';

type Fields = Readonly<Record<string, unknown>>;

const FAULT_EXAMPLES: Readonly<Record<FaultKind, string>> = {
  pause: '{ process: clients, before: write, for: 1ms..40ms, chance: 1/2 }',
  delay: '{ message: write, by: 1ms..20ms, chance: 1/4 }',
  drop: '{ message: acquire, leg: reply, chance: 1/4 }',
  duplicate: '{ by: 1ms..20ms, chance: 1/20 }',
  partition: '{ from: clients, to: locks, for: 5ms..40ms, chance: 1/2 }',
  clock: '{ process: clients, at: 0ms..50ms, step: -20ms..20ms, chance: 1/2 }',
  crash: '{ process: clients, after: acquire, restart: 1ms..20ms, chance: 1/4 }',
  reset: '{ from: clients, to: stores, chance: 1/4 }',
  failover: '{ process: stores, at: 0ms..50ms, lag: 1ms..20ms }',
  evict: '{ process: locks, key: db, chance: 1/2 }',
  'late-timer': '{ by: 1ms..20ms, chance: 1/10 }',
};

/** A shipped scenario, parsed, and the contents of its file. */
interface Shipped {
  readonly name: string;
  readonly systems: readonly SystemScenario[];
  readonly faults: ReadonlySet<string>;
  readonly file: Fields;
}

let shipped: readonly Shipped[] | null = null;

function shippedFiles(): readonly Shipped[] {
  shipped ??= shippedScenarios().flatMap(({ name }) => {
    const text = readFileSync(fileMeant(name), 'utf8');
    const read = loadScenario(text, name);
    const file: unknown = parse(text);
    if (read.kind !== 'scenario' || !isRecord(file)) return [];
    const { systems, faults } = read.scenario;
    return [{ name, systems, faults: new Set<string>(faults.map(({ kind }) => kind)), file }];
  });
  return shipped;
}

/** The scenarios that show an entry, and how they show it. */
export interface ShownBy {
  readonly how: 'breaks in' | 'holds in' | 'used by';
  readonly scenarios: readonly string[];
}

/**
 * Returns the scenarios that show an entry. Empty if scenarios do not contain entries of this kind.
 */
export function shownBy(entry: Entry): readonly ShownBy[] {
  const { kind, name } = entry;
  const rows: readonly ShownBy[] =
    kind === 'claims'
      ? [
          { how: 'breaks in', scenarios: withSystem(({ expect }) => expect.breaks.includes(name)) },
          { how: 'holds in', scenarios: withSystem(({ expect }) => expect.holds.includes(name)) },
        ]
      : [{ how: 'used by', scenarios: namesOf((user) => usesIn(user, entry) !== undefined) }];
  return rows.filter(({ scenarios }) => scenarios.length > 0);
}

function namesOf(has: (scenario: Shipped) => boolean): readonly string[] {
  return shippedFiles()
    .filter(has)
    .map(({ name }) => name);
}

function withSystem(has: (system: SystemScenario) => boolean): readonly string[] {
  return namesOf(({ systems }) => systems.some(has));
}

function usesIn({ systems, faults, file }: Shipped, { kind, name }: Entry): unknown {
  const { clients, workload } = file;
  switch (kind) {
    case 'locks':
      return systems.find(({ lock }) => lock === name);
    case 'stores':
      return systems.find(({ store }) => store === name);
    case 'claims':
      return systems.find(({ expect }) => expect.holds.includes(name));
    case 'faults':
      return faults.has(name) ? name : undefined;
    case 'fields':
      return file[name];
    case 'settings':
      // A setting of all clients, or of the clients of one system.
      return [clients, ...Object.values(recordOf(file['systems']))]
        .map((place) => recordOf(place)[name] ?? recordOf(recordOf(place)['clients'])[name])
        .find((value) => value !== undefined);
    case 'steps':
      return stepBelow([clients, workload], name);
    case 'workloads':
      return recordOf(workload)['kind'] === name ? name : undefined;
    default:
      return undefined;
  }
}

function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Returns the first step with this name in any list of steps below a value. */
function stepBelow(value: unknown, name: string): unknown {
  for (const [key, below] of Object.entries(recordOf(value))) {
    const steps: readonly unknown[] = key === 'steps' && Array.isArray(below) ? below : [];
    if (steps.includes(name)) return {};
    const step = steps.find((candidate) => isRecord(candidate) && name in candidate);
    const found = isRecord(step) ? step[name] : stepBelow(below, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns YAML that uses an entry in a scenario, or null if scenarios have no entries of this kind.
 */
export function snippetOf(entry: Entry): string | null {
  const users = shippedFiles().filter((scenario) => usesIn(scenario, entry) !== undefined);
  for (const user of [...users, null]) {
    const usage = user === null ? undefined : usesIn(user, entry);
    const part = partOf(entry, usage);
    if (part === null) continue;
    for (const setting of settingsOf(user)) {
      const text = textOf({ ...setting, ...part });
      if (loadScenario(completeScenario(text), 'snippet').kind === 'scenario') return text;
    }
  }
  return null;
}

/** Returns the fields to try beside a part, one set per attempt. */
function settingsOf(user: Shipped | null): readonly Fields[] {
  if (user === null) return [{}];
  const { systems, file } = user;
  const [{ lock = '', store = '' } = {}] = systems;
  const { network, queue } = file;
  const around = { systems: { [CALLED]: { lock, store } } };
  const { ttl } = recordOf(file['clients']);
  return [
    {},
    { network },
    ...(ttl === undefined ? [] : [{ clients: { ttl } }]),
    queue === undefined ? around : { ...around, queue },
  ];
}

const CALLED = 'my-system';

function partOf({ kind, name, options }: Entry, usage: unknown): Fields | null {
  const chosen = options.map(({ name: option, fallback }) => [option, fallback] as const);
  const choice = chosen.length === 0 ? {} : { options: Object.fromEntries(chosen) };
  const { lock = 'lock-service', store = 'fenced' } = namedIn(usage);
  switch (kind) {
    case 'locks':
      return { systems: { [CALLED]: { lock: name, store, ...choice } } };
    case 'stores':
      return { systems: { [CALLED]: { lock, store: name, ...choice } } };
    case 'claims':
      return { systems: { [CALLED]: { lock, store, expect: { holds: [name] } } } };
    case 'faults': {
      const examples: Readonly<Record<string, string>> = FAULT_EXAMPLES;
      return { faults: [{ [name]: parse(examples[name] ?? '{}') }] };
    }
    case 'workloads':
      return { workload: { kind: name } };
    case 'fields':
      return typeof usage === 'object' || name === 'description' ? null : { [name]: usage };
    case 'settings':
      return usage === undefined ? null : { clients: { [name]: usage } };
    case 'steps':
      return { workload: { steps: [{ [name]: usage ?? {} }] } };
    default:
      return null;
  }
}

function namedIn(system: unknown): { readonly lock?: string; readonly store?: string } {
  const { lock, store } = recordOf(system);
  return typeof lock === 'string' && typeof store === 'string' ? { lock, store } : {};
}

/** Expands a snippet into the simplest scenario that contains it. */
export function completeScenario(snippet: string): string {
  const system = `systems:\n  ${CALLED}: { lock: lock-service, store: fenced }\n`;
  return `name: my-scenario\n${snippet.includes('systems:') ? '' : system}${snippet}`;
}

/** Formats YAML: systems, steps and faults on separate lines, the rest in braces. */
function textOf(fields: Fields): string {
  const document = new Document(fields, { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_, node, path) => {
      const parent = path.at(-1);
      const isTop = isPair(parent) && path.length === 3;
      const isPlain = isTop && isMap(node) && !LONG.has(String(parent.key));
      const isInside = path.length > 5 && isPair(parent);
      const isShort = JSON.stringify(node).length < LINE;
      if ((isPlain || isInside) && isShort) node.flow = true;
    },
  });
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: true });
  return text.replaceAll(/\[ (.*?) \]/g, '[$1]');
}

/** Maximum number of characters in braces. */
const LINE = 80;
const LONG: ReadonlySet<string> = new Set(['systems', 'workload']);
