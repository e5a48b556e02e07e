/**
 * Checks that each fault of a scenario has a place: a point that a client passes, or an existing
 * message or timer. The plan determines most points. For the others, a few seeds are run, first
 * without faults. A name that no run has seen is reported as a problem. It is reported as a warning
 * if its number depends on the run (`acquire-7` is the seventh attempt), or if user code declares
 * it in `operations`.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { FaultTemplate, Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { nearestFirst, type PathStep, type UnplacedProblem } from '../../text/problem.ts';
import { prepareScenario } from '../sweep/examiner.ts';
import {
  type PlacePassed,
  plannedPlaces,
  pointsOfRun,
  type RunPoints,
  withoutFaults,
} from './run-points.ts';

export interface PlaceFindings {
  readonly problems: readonly UnplacedProblem[];
  readonly warnings: readonly UnplacedProblem[];
}

/** Seeds to run without faults, then with faults, before a name is reported as missing. */
const CALM_SEEDS = 3;
const FAULTY_SEEDS = 5;

/** Checks the places of all faults. Skips systems whose plans `run` would refuse. */
export async function placeFindings(
  scenario: Scenario,
  catalogue: Catalogue,
): Promise<PlaceFindings> {
  const asked = scenario.faults.flatMap((fault, index) => placesAsked(fault, index));
  const problems: UnplacedProblem[] = [];
  const warnings: UnplacedProblem[] = [];
  if (asked.length === 0) return { problems, warnings };
  await prepareScenario(scenario, catalogue);
  const known = new KnownPlaces(scenario, catalogue);
  let open = asked;
  for (const round of known.rounds()) {
    open = open.filter((place) => !known.has(place));
    if (open.length === 0) break;
    await round();
  }
  for (const place of open.filter((left) => !known.has(left))) {
    const { isOpen, what } = known.verdictOn(place);
    (isOpen ? warnings : problems).push({ path: place.path, isKey: false, what });
  }
  return { problems, warnings };
}

interface PlaceAsked {
  readonly path: readonly PathStep[];
  readonly kind: 'verb' | 'point' | 'message' | 'timer';
  /** A verb, the name of a point or timer, or the operation of a message. */
  readonly word: string;
  readonly message: string;
  /** For a verb, the clients from whose sections a point is drawn. Empty for all clients. */
  readonly subjects: readonly string[];
}

function placesAsked({ kind: fault, fields }: FaultTemplate, index: number): readonly PlaceAsked[] {
  const [first] = fields;
  const subjects = first?.type === 'process' ? first.value : [];
  return fields.flatMap((field): PlaceAsked | readonly PlaceAsked[] => {
    if (field.type !== 'when' && field.type !== 'message' && field.type !== 'timer') return [];
    const { value, type } = field;
    const asked = (name: string, kind: PlaceAsked['kind'], word: string): PlaceAsked => {
      return { path: ['faults', index, fault, name], kind, word, message: '', subjects: [] };
    };
    switch (value.kind) {
      case 'point':
        return asked(value.side, 'point', value.point);
      case 'timer':
        return asked('timer', 'timer', value.name);
      case 'named': {
        const operation = value.name.replace(/\/\d+\/(request|reply)$/, '');
        return { ...asked('message', 'message', operation), message: value.name };
      }
      case 'verb': {
        if (type === 'when') {
          const side = 'side' in value ? value.side : 'before';
          return { ...asked(side, 'verb', value.verb), subjects };
        }
        const clients = 'clients' in value ? value.clients : [];
        return { ...asked('message', 'verb', value.verb), subjects: clients };
      }
      default:
        return [];
    }
  });
}

/** Maps `alice/1/acquire-7` to `acquire`, and the timer `alice/timeout-3ms-2` to `timeout`. */
function labelOf(name: string): string {
  return name
    .split('/')
    .slice(1)
    .filter((part) => !/^\d+$/.test(part))
    .join('/')
    .replace(/-\d+(ms)?(?=-|\/|$)/g, '');
}

class KnownPlaces {
  private readonly scenario: Scenario;
  private readonly catalogue: Catalogue;
  private readonly systems: readonly SystemScenario[];
  private readonly planned = new Map<string, PlacePassed>();
  private readonly passed = new Map<string, PlacePassed['kind']>();
  private readonly messages = new Set<string>();
  private readonly declared: ReadonlySet<string>;
  private runs = 0;
  private isTruncated = false;

  constructor(scenario: Scenario, catalogue: Catalogue) {
    this.scenario = scenario;
    this.catalogue = catalogue;
    this.systems = scenario.systems.filter(
      ({ name }) => whyRefused(expand(scenario, name, 0), catalogue) === null,
    );
    this.declared = new Set(this.systems.flatMap(({ operations = [] }) => operations));
    for (const system of this.systems) {
      const plan = expand(scenario, system.name, 0);
      for (const place of plannedPlaces(plan, system)) this.planned.set(place.name, place);
    }
  }

  /** Returns rounds of runs that may find more places. Each round runs one seed of all systems. */
  rounds(): readonly (() => Promise<void>)[] {
    return [
      ...Array.from({ length: CALM_SEEDS }, (_, seed) => () => this.run(seed, withoutFaults)),
      ...Array.from({ length: FAULTY_SEEDS }, (_, seed) => () => this.run(seed, (plan) => plan)),
    ];
  }

  private async run(seed: number, changed: (plan: Plan) => Plan): Promise<void> {
    for (const { name } of this.systems) {
      const plan = changed(expand(this.scenario, name, seed));
      const seen = await pointsOfRun(plan, this.catalogue).catch(() => null);
      // If the run throws, the sweep reports the error with its seed.
      const { places, messages, isTruncated } = seen ?? NOTHING_SEEN;
      for (const place of places) this.passed.set(place.name, place.kind);
      for (const message of messages) this.messages.add(message);
      this.isTruncated ||= isTruncated;
      this.runs += 1;
    }
  }

  /** Returns true if a run passed the place or, for a verb, one of its points. */
  has(asked: PlaceAsked): boolean {
    if (asked.kind === 'verb') return this.pointsOf(asked).some((name) => this.passed.has(name));
    const passed = this.passed.get(asked.word);
    if (asked.kind === 'timer') return passed === 'timer';
    if (asked.kind === 'message' && this.messages.has(asked.message)) return true;
    return passed === 'operation' || (passed === 'mark' && asked.kind === 'point');
  }

  private pointsOf({ word, subjects }: Pick<PlaceAsked, 'word' | 'subjects'>): readonly string[] {
    const clients = subjects.filter((subject) =>
      this.scenario.clients.some(({ name }) => name === subject),
    );
    // For a fault of a server, points are drawn from the sections of all clients.
    const isOfAll = clients.length < subjects.length || clients.length === 0;
    const isMeant = (place: PlacePassed): boolean =>
      place.word === word && (isOfAll || clients.includes(place.process));
    return [...this.planned.values()].filter(isMeant).map(({ name }) => name);
  }

  /** Describes a place that no run passed. `isOpen` is true if another run may pass it. */
  verdictOn(asked: PlaceAsked): { readonly isOpen: boolean; readonly what: string } {
    const { kind, word, message } = asked;
    const isOpen = this.isTruncated || this.mayCome(asked);
    const near = nearestFirst(
      word,
      kind === 'verb' ? this.verbsLike(asked) : this.namesLike(asked),
    );
    const more = near.length > MOST_NAMED ? ', … (`fencepost show --points` lists all)' : '';
    const there =
      near.length === 0 ? '' : `; nearest: ${near.slice(0, MOST_NAMED).join(', ')}${more}`;
    if (kind === 'verb') {
      if (this.isUndeclared(word)) {
        const what = `clients call "${word}", but the \`operations\` of their lock do not declare it`;
        return { isOpen: false, what };
      }
      const noPassText = isOpen ? `in ${this.runs} runs no client passed` : 'no client ever passes';
      return { isOpen, what: `${noPassText} "${word}"${there}` };
    }
    const called = `${kind} "${kind === 'message' ? message : word}"`;
    const none = isOpen ? `in ${this.runs} runs there was no` : 'there is no';
    return { isOpen, what: `${none} ${called}${there}` };
  }

  /** Returns true if user code has an operation of this name that it does not declare. */
  private isUndeclared(word: string): boolean {
    return [...this.passed].some(
      ([name, kind]) => kind === 'operation' && !this.planned.has(name) && labelOf(name) === word,
    );
  }

  private verbsLike({ subjects }: PlaceAsked): readonly string[] {
    const verbs = new Set([...this.planned.values()].flatMap(({ word }) => word ?? []));
    return [...verbs].filter((word) => {
      return this.pointsOf({ word, subjects }).some((name) => this.passed.has(name));
    });
  }

  /** Returns the known names of the section, or else of the client, or else all names. */
  private namesLike({ kind, word }: PlaceAsked): readonly string[] {
    const isTimer = kind === 'timer';
    const all = [...this.passed].filter(([, of]) => (of === 'timer') === isTimer);
    const names = all.map(([name]) => name);
    const [client = '', section = ''] = word.split('/');
    const within = (prefix: string): readonly string[] =>
      names.filter((name) => name.startsWith(prefix));
    const [inSection, ofClient] = [within(`${client}/${section}/`), within(`${client}/`)];
    if (inSection.length > 0) return inSection;
    return ofClient.length > 0 ? ofClient : names;
  }

  private mayCome({ kind, word, subjects }: PlaceAsked): boolean {
    if (kind === 'verb') return this.pointsOf({ word, subjects }).length > 0;
    if (this.planned.has(word)) return true;
    const label = labelOf(word);
    if (this.declared.has(label)) return true;
    const alike = [...this.passed.keys()].filter((name) => labelOf(name) === label);
    // The workload determines the numbers of its steps, so no run can have other numbers.
    const isDecided = label !== 'acquire' && alike.every((name) => this.planned.has(name));
    return alike.length > 0 && !isDecided;
  }
}

const NOTHING_SEEN: RunPoints = { places: [], messages: new Set(), isTruncated: true };

const MOST_NAMED = 8;
