/**
 * What a test is about: the scenario that its options mean, and what the words in it mean. A
 * scenario that is written as options is read as the text of a file is, so that whatever is wrong
 * with it is said in the same words.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Catalogue, extend, type SystemDefinition } from '../../catalogue.ts';
import type { SourceFile } from '../../core/plan/document.ts';
import { readUse } from '../../core/plan/used-modules.ts';
import { defineSystem } from '../../define-system.ts';
import { loadCatalogue } from '../../host/modules/load-catalogue.ts';
import { loadScenario } from '../../load.ts';
import { whyRefused } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import type { LockDefinition } from '../../systems/define-lock.ts';
import { type Problem, renderProblem, suggest } from '../../text/problem.ts';
import { OWN_LOCK } from './body-lock.ts';
import type { CheckedOptions } from './check-options.ts';
import { learnOperations } from './learn-operations.ts';
import type { Mistakes } from './mistakes.ts';
import { SCENARIO_FIELDS } from './options.ts';
import { SimTestError } from './sim-test-error.ts';

export interface Subject {
  readonly scenario: Scenario;
  /** Those of the scenario that the test is about. */
  readonly systems: readonly SystemScenario[];
  readonly catalogue: Catalogue;
}

/** Where it is read from, and whom it tells what went wrong in the test's own code. */
export interface SubjectSource {
  readonly folder: string;
  /** The name of a scenario that is written as options. */
  readonly slug: string;
  readonly mistakes: Mistakes;
}

/** Throws a `SimTestError` with every problem. */
export async function readSubject(
  options: CheckedOptions,
  source: SubjectSource,
): Promise<Subject> {
  const text = textOf(options, source);
  const catalogue = await catalogueOf(text, options, source);
  const read = loadScenario(text.text, text.file, catalogue);
  if (read.kind === 'problems') throw new SimTestError(linesOf(read.problems, text));
  const { scenario } = read;
  const systems = chosen(scenario.systems, options, text);
  const refusals = systems.flatMap(({ name }) => {
    const why = whyRefused(expand(scenario, name, 0), catalogue);
    return why === null ? [] : [{ name, why }];
  });
  const [first] = refusals;
  if (first === undefined) return { scenario, systems, catalogue };
  const lines = refusals.map(({ name, why }) =>
    text.isWrittenHere ? `lock: ${why}` : `${text.file}: systems.${name}: ${why}`,
  );
  throw new SimTestError(lines, source.mistakes.find(first.why));
}

/** The text of a scenario, and whether it was made of options. */
interface ScenarioText extends SourceFile {
  readonly isWrittenHere: boolean;
  /** Where its modules lie. */
  readonly folder: string;
}

function textOf({ fields, scenario }: CheckedOptions, source: SubjectSource): ScenarioText {
  const { folder, slug } = source;
  if (scenario === null) {
    const text = JSON.stringify(documentOf(fields, slug));
    return { file: 'options', text, isWrittenHere: true, folder };
  }
  if (scenario.includes('\n')) {
    return { file: 'scenario', text: scenario, isWrittenHere: false, folder };
  }
  const file = resolve(folder, scenario);
  return {
    file: scenario,
    text: readText(file, scenario),
    isWrittenHere: false,
    folder: dirname(file),
  };
}

function readText(file: string, given: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing ? 'there is no such file' : String(error);
    const hint = 'name one beside the test, or give the text of a scenario';
    throw new SimTestError([`scenario: ${given}: ${why}; ${hint}`]);
  }
}

/** The options as a scenario file has them. */
function documentOf(fields: CheckedOptions['fields'], slug: string): unknown {
  const { lock, options, store = 'unfenced', holds, breaks } = fields;
  const isOwn = typeof lock !== 'string';
  const expects = holds === undefined && breaks === undefined ? ['grant-order'] : holds;
  const system = {
    ...{ lock: isOwn ? OWN_LOCK : lock, store, options },
    expect: { holds: expects, breaks },
  };
  const own = Object.fromEntries(SCENARIO_FIELDS.map((field) => [field, fields[field]]));
  return { name: slug, systems: { [isOwn ? OWN_LOCK : lock]: system }, ...own };
}

/** Loads what the scenario uses, and adds what the test brings. */
async function catalogueOf(
  text: ScenarioText,
  { ownLock, use }: CheckedOptions,
  { mistakes }: SubjectSource,
): Promise<Catalogue> {
  const named = readUse(text);
  if (named.kind === 'problems') throw new SimTestError(linesOf(named.problems, text));
  const modules = { kind: 'folder', folder: text.folder } as const;
  const loaded = await loadCatalogue(named.modules, modules);
  if (loaded.kind === 'findings') {
    throw new SimTestError(linesOf(named.locate(loaded.findings), text));
  }
  const used = use.reduce(extended, loaded.catalogue);
  if (ownLock === null) return used;
  const watched = mistakes.watch(ownLock);
  const known = extended(used, ownDefinition(watched));
  if (watched.buildAsync === undefined || watched.operations !== undefined) return known;
  const operations = await learnOperations(text, OWN_LOCK, known);
  return extended(used, ownDefinition({ ...watched, operations }));
}

function extended(catalogue: Catalogue, definition: SystemDefinition): Catalogue {
  try {
    return extend(catalogue, definition);
  } catch (error) {
    throw new SimTestError([`use: ${messageOf(error)}`]);
  }
}

function ownDefinition(lock: LockDefinition): SystemDefinition {
  try {
    return defineSystem({ locks: { [OWN_LOCK]: lock } });
  } catch (error) {
    throw new SimTestError([messageOf(error).replace(`locks.${OWN_LOCK}`, 'lock')]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of a text that is options, the paths are those of the options. */
function linesOf(problems: readonly Problem[], text: ScenarioText): readonly string[] {
  if (!text.isWrittenHere) return problems.map(renderProblem);
  return problems.map(({ path, what }) => {
    const own = path.replace(/^systems(\.[^.[\]]+|\["[^"]*"\])?\.?/, '').replace(/^expect\./, '');
    return own === '' ? what : `${own}: ${what}`;
  });
}

/** One by its name, or all; a test expects something of each. */
function chosen(
  systems: readonly SystemScenario[],
  { system }: CheckedOptions,
  { file }: ScenarioText,
): readonly SystemScenario[] {
  const names = systems.map(({ name }) => name);
  if (system !== null && !names.includes(system)) {
    throw new SimTestError([`system: ${file} has no system "${system}"${suggest(system, names)}`]);
  }
  const found = system === null ? systems : systems.filter(({ name }) => name === system);
  const idle = found.filter(({ expect }) => expect.holds.length + expect.breaks.length === 0);
  if (idle.length === 0) return found;
  const list = idle.map(({ name }) => name).join(', ');
  throw new SimTestError([`scenario: ${file} expects nothing of ${list}; say what \`holds\``]);
}
