/**
 * `run --exhaust k --edge pause,ttl`: searches where claims begin to break, and shows it as a table
 * and as a page with a picture. Nothing is written before all of it is known.
 */
import { isRecord, parseFile } from '../core/plan/document.ts';
import {
  type EdgeScope,
  edgeFields,
  edgePage,
  edgeSentence,
  edgeTable,
  nearestOf,
  scopeSentence,
} from '../report/edge.ts';
import type { ExhaustScope, Scenario } from '../scenario/scenario.ts';
import {
  type Axes,
  type ClaimEdge,
  EDGE_KINDS,
  EDGE_PARAMETERS,
  findEdges,
  findNearest,
  holdsAll,
  type Nearest,
  TooManyPlans,
} from '../search/exhaust/edge.ts';
import { MOST_PLANS } from '../search/exhaust/exhaust.ts';
import { narrowed } from '../search/exhaust/narrowed.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { suggest } from '../text/problem.ts';
import { groupDigits } from '../text/prose.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { openFolder, writeText } from './files.ts';
import { breathe, Interruption } from './interruption.ts';
import { edgeFileOf } from './output-files.ts';
import {
  type LoadedScenario,
  loadScenarios,
  loadScenarioText,
  type ModuleOptions,
} from './sources.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface EdgeRun extends ModuleOptions {
  readonly edge: string;
  readonly exhaust: ExhaustScope;
  readonly output: string;
  readonly isQuiet: boolean;
  readonly isJson: boolean;
}

/** `pause,ttl`: a kind of fault that takes time, and what its length is compared with. */
function parseAxes(text: string): Axes {
  const [first = '', second = '', ...others] = text.split(',').map((word) => word.trim());
  const kind = EDGE_KINDS.find((one) => one === first);
  const parameter = EDGE_PARAMETERS.find((one) => one === second);
  if (others.length > 0 || second === '') {
    throw new UserError([`--edge ${text}: expected a fault and a parameter, e.g. pause,ttl`]);
  }
  if (kind === undefined) {
    throw new UserError([`--edge ${text}: unknown fault "${first}"${suggest(first, EDGE_KINDS)}`]);
  }
  if (parameter === undefined) {
    const hint = suggest(second, EDGE_PARAMETERS);
    throw new UserError([`--edge ${text}: unknown parameter "${second}"${hint}`]);
  }
  return { kind, parameter };
}

interface Found {
  readonly scope: EdgeScope;
  readonly edges: readonly ClaimEdge[];
  readonly nearest: readonly Nearest[];
}

/** Searches the edges of scenarios, one after the other, and shows them. */
export async function findEdgesOf(files: readonly string[], options: EdgeRun): Promise<Exit> {
  const axes = parseAxes(options.edge);
  const all = await loadScenarios(files, options);
  for (const { scenario, file } of all) requireKind(scenario, file, axes);
  openFolder(options.output);
  const terminal = openTerminal(options);
  const interruption = new Interruption();
  interruption.listen(() => terminal.note('interrupted: no map is written'));
  try {
    for (const loaded of all) {
      for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
      const found = await search(loaded, axes, { options, terminal, interruption });
      if (found === null) return exits.interrupted;
      show(found, options, terminal);
    }
  } finally {
    interruption.end();
    terminal.endProgress();
  }
  return exits.met;
}

function requireKind({ faults, systems }: Scenario, file: string, { kind }: Axes): void {
  if (!faults.some((fault) => fault.kind === kind)) {
    const kinds = [...new Set(faults.map((fault) => fault.kind))].join(', ');
    const has = kinds === '' ? 'no faults' : `faults of ${kinds}`;
    throw new UserError([`${file}:1:1 faults: --edge asks about ${kind}, and it has ${has}`]);
  }
  if (systems.every(({ expect }) => expect.holds.length + expect.breaks.length === 0)) {
    throw new UserError([`${file}:1:1 systems: --edge asks about what \`expect\` names: nothing`]);
  }
}

interface SearchContext {
  readonly options: EdgeRun;
  readonly terminal: Terminal;
  readonly interruption: Interruption;
}

const BREATHE_EVERY = 64;

async function search(
  loaded: LoadedScenario,
  axes: Axes,
  { options, terminal, interruption }: SearchContext,
): Promise<Found | null> {
  const { catalogue, file } = loaded;
  const scenario = narrowed(loaded.scenario, options.exhaust);
  await prepare(scenario.systems, catalogue);
  let plans = 0;
  const shouldStop = async (): Promise<boolean> => {
    plans += 1;
    if (plans % BREATHE_EVERY > 0) return false;
    terminal.progress(`  ${scenario.name}: ${groupDigits(plans)} plans`);
    await breathe();
    return interruption.isInterrupted;
  };
  try {
    const edges = await findEdges(scenario, axes, { catalogue, shouldStop });
    if (edges === null) return null;
    const nearest = edges.some(holdsAll)
      ? await findNearest(await withAllFaults(loaded, options), edges, { catalogue, shouldStop })
      : [];
    if (nearest === null) return null;
    return { scope: scopeOf(scenario, axes), edges, nearest };
  } catch (error) {
    if (!(error instanceof TooManyPlans)) throw error;
    const many = `more than ${groupDigits(MOST_PLANS)} plans at one point of the map`;
    const fewer = 'take a smaller --exhaust, or fewer --clients or --sections';
    throw new UserError([`${file}:1:1 systems.${error.system}: ${many}: ${fewer}`]);
  }
}

/** The same with every kind of fault, of which a plan has one. */
async function withAllFaults({ file, text }: LoadedScenario, options: EdgeRun): Promise<Scenario> {
  const parsed = parseFile({ file, text });
  const fields = parsed.kind !== 'problems' && isRecord(parsed.value) ? parsed.value : {};
  const all = JSON.stringify({ ...fields, faults: 'all' });
  const { scenario } = await loadScenarioText({ file, text: all }, options);
  return narrowed(scenario, { ...options.exhaust, faults: 1, ties: 0 });
}

function scopeOf({ name, clients, exhaust }: Scenario, axes: Axes): EdgeScope {
  return {
    ...axes,
    scenario: name,
    faults: exhaust?.faults ?? 0,
    clients: clients.length,
    sections: Math.max(...clients.map(({ sections }) => sections)),
  };
}

function show({ scope, edges, nearest }: Found, { output }: EdgeRun, terminal: Terminal): void {
  terminal.endProgress();
  terminal.print(scopeSentence(scope));
  for (const edge of edges) {
    const near = nearestOf(edge, nearest);
    terminal.printJson('edge', edgeFields(edge, scope, near));
    terminal.print(`  ${edgeSentence(edge, scope, near)}`);
    if (!holdsAll(edge)) for (const line of edgeTable(edge, scope)) terminal.print(line);
  }
  const file = edgeFileOf(output, scope.scenario);
  writeText(file, edgePage(edges, scope, nearest));
  terminal.print(`map: ${file}`);
}
