/**
 * `fencepost points`: the places of a scenario at which a fault can be injected, by client and
 * section, in the order in which a run without faults comes by them, with what each is.
 */
import type { Command } from 'commander';
import type { Answer, Call } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { expand } from '../scenario/expand.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import {
  type PlacePassed,
  plannedPlaces,
  pointsOfRun,
  withoutFaults,
} from '../search/points/run-points.ts';
import { prepareScenario } from '../search/sweep/examiner.ts';
import { suggest } from '../text/problem.ts';
import {
  addModuleOptions,
  type Done,
  type OutputFlags,
  outputOptions,
  parseCount,
  shared,
  withExample,
} from './command.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { type LoadedScenario, loadScenarios } from './sources.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface PointsFlags extends OutputFlags {
  readonly seed: string;
  readonly system?: string;
  readonly modules?: string | false;
}

export function addPoints(command: Command, done: Done): void {
  addModuleOptions(withExample(command, 'points zombie-writer --system unfenced'))
    .option('--seed <S>', 'which seed runs without faults', '0')
    .option('--system <name>', 'only this system of the scenario (default: all)')
    .option(...shared.json)
    .action(async (file: string, flags: PointsFlags) => done(await listPoints(file, flags)));
}

async function listPoints(file: string, flags: PointsFlags): Promise<Exit> {
  const seed = parseCount(flags.seed, '--seed');
  const terminal = openTerminal(outputOptions(flags));
  const modules = flags.modules ?? null;
  for (const loaded of await loadScenarios([file], { modules })) {
    await prepareScenario(loaded.scenario, loaded.catalogue);
    for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
    for (const system of systemsMeant(loaded, flags.system)) {
      const listed = await placesOf(loaded, system, seed);
      if (flags.json === true) printJson(system, listed, terminal);
      else printText(loaded, system, { seed, listed }, terminal);
    }
  }
  return exits.met;
}

function systemsMeant(
  { scenario, file }: LoadedScenario,
  named: string | undefined,
): readonly SystemScenario[] {
  const { systems } = scenario;
  const meant = systems.filter(({ name }) => named === undefined || name === named);
  if (meant.length > 0) return meant;
  const names = systems.map(({ name }) => name);
  throw new UserError([`${file}: unknown system "${named}"${suggest(named ?? '', names)}`]);
}

/** A place, and the word by which faults that are drawn find it; null where none does. */
interface ListedPlace extends PlacePassed {
  readonly word: string | null;
}

/** By client as the scenario has them, then by section; those that were not passed come last. */
async function placesOf(
  { scenario, catalogue }: LoadedScenario,
  system: SystemScenario,
  seed: number,
): Promise<readonly ListedPlace[]> {
  const plan = withoutFaults(expand(scenario, system.name, seed));
  const { places } = await pointsOfRun(plan, catalogue);
  const planned = plannedPlaces(plan, system);
  const words = new Map(planned.map(({ name, verb }) => [name, verb === '' ? null : verb]));
  const passed = new Set(places.map(({ name }) => name));
  const missed = planned.filter(({ name }) => !passed.has(name));
  const all = [...places, ...missed].map((place): ListedPlace => {
    return { ...place, word: words.get(place.name) ?? null };
  });
  const order = plan.clients.map(({ name }) => name);
  const rank = ({ process, section }: PlacePassed): number =>
    order.indexOf(process) * FAR + (section ?? FAR - 1);
  return all.sort((a, b) => rank(a) - rank(b));
}

/** More than a client may have sections. */
const FAR = 1_000_000;

function printJson(
  { name }: SystemScenario,
  listed: readonly ListedPlace[],
  terminal: Terminal,
): void {
  for (const place of listed) {
    const { process, server, call, answer, ...fields } = place;
    const about = aboutPlace(place);
    terminal.printJson('point', { system: name, client: process, ...fields, server, about });
  }
}

function printText(
  { scenario }: LoadedScenario,
  { name }: SystemScenario,
  { seed, listed }: { readonly seed: number; readonly listed: readonly ListedPlace[] },
  terminal: Terminal,
): void {
  const width = Math.max(0, ...listed.map((place) => place.name.length));
  terminal.print(`${scenario.name}, system ${name}: seed ${seed} without faults`);
  let heading = '';
  for (const place of listed) {
    const { process, section, atUs } = place;
    const title = section === null ? process : `${process}, section ${section}`;
    if (title !== heading) for (const line of ['', title]) terminal.print(line);
    heading = title;
    const when = atUs === null ? 'not passed here' : proseDuration(atUs);
    terminal.print(`  ${place.name.padEnd(width)}  ${when.padStart(10)}  ${aboutPlace(place)}`);
  }
  const words = [...new Set(listed.flatMap(({ word }) => (word === null ? [] : [word])))].sort();
  terminal.print('');
  terminal.print(
    `of a drawn section: ${words.join(', ')}, as in \`before: ${words[0] ?? 'read'}\``,
  );
  terminal.print('messages: the name of an operation and /1/request or /1/reply');
  terminal.print('');
}

function aboutPlace({ kind, name, server, call, answer }: PlacePassed): string {
  if (kind === 'timer') return 'timer, for `late-timer`';
  if (kind === 'mark') return 'mark';
  if (call === null) return 'operation';
  const label = name.split('/').slice(2).join('/').replace(/-\d+$/, '');
  const deed = callText(call, label);
  const at = server === null ? '' : ` at ${server}`;
  return answer === null ? `${deed}${at}` : `${deed}${at}: ${answerText(answer)}`;
}

function callText(call: Call, label: string): string {
  if ('key' in call) return `${call.verb} ${call.key}`;
  const own = call.verb === label || call.verb === 'fetch' ? '' : ` (${call.verb})`;
  return call.lock === '' ? `${label}${own}` : `${label} ${call.lock}${own}`;
}

function answerText(answer: Answer): string {
  switch (answer.kind) {
    case 'granted':
      return answer.token === 0 ? 'granted' : `granted, token ${answer.token}`;
    case 'denied':
      return answer.holder === '' ? 'denied' : `denied, ${answer.holder} holds it`;
    case 'value':
      return String(answer.value);
    default:
      return answer.kind;
  }
}
