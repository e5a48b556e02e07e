/**
 * `fencepost show --points` lists the places of a scenario where a fault can be injected. They are
 * grouped by client and section, in the order of a run without faults.
 */
import type { Answer, Call } from '../core/history/call.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { expand } from '../scenario/expand.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import { type PlacePassed, placesOf } from '../search/points/run-points.ts';
import { prepareScenario } from '../search/sweep/examiner.ts';
import { suggest } from '../text/problem.ts';
import { UserError } from './exit.ts';
import { type LoadedScenario, loadScenarios } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** The scenario, seed and modules. Without `system`, all systems are shown. */
interface PointsAsked {
  readonly file: string;
  readonly seed: number;
  readonly system: string | undefined;
  readonly modules: string | false | null;
  readonly isJson: boolean;
}

export async function showPoints(asked: PointsAsked, terminal: Terminal): Promise<void> {
  const { file, seed, system: named, modules, isJson } = asked;
  for (const loaded of await loadScenarios([file], { modules })) {
    const { scenario, catalogue } = loaded;
    const systems = named === undefined ? scenario.systems : [systemNamed(loaded, named)];
    await prepareScenario(scenario, catalogue);
    for (const warning of loaded.warnings) terminal.warn(`warning: ${warning}`);
    for (const system of systems) {
      const plan = expand(scenario, system.name, seed);
      const places = await placesOf(plan, system, catalogue);
      if (isJson) printJson(system, places, terminal);
      else {
        terminal.print(`${scenario.name}, system ${system.name}: seed ${seed} without faults`);
        printText(places, terminal);
      }
    }
  }
}

/** Returns the system with that name. Throws a `UserError` if there is none. */
export function systemNamed({ file, scenario }: LoadedScenario, named: string): SystemScenario {
  const system = scenario.systems.find(({ name }) => name === named);
  if (system !== undefined) return system;
  const names = scenario.systems.map(({ name }) => name);
  throw new UserError([`${file}: unknown system "${named}"${suggest(named, names)}`]);
}

function printJson(
  { name: system }: SystemScenario,
  places: readonly PlacePassed[],
  terminal: Terminal,
): void {
  for (const place of places) {
    const { name, kind, process: client, section, atUs, word, server } = place;
    const about = aboutPlace(place);
    terminal.printJson('point', { system, client, name, section, kind, atUs, word, server, about });
  }
}

function printText(places: readonly PlacePassed[], terminal: Terminal): void {
  const width = Math.max(0, ...places.map(({ name }) => name.length));
  let heading = '';
  for (const place of places) {
    const { process, section, atUs } = place;
    const title = section === null ? process : `${process}, section ${section}`;
    if (title !== heading) for (const line of ['', title]) terminal.print(line);
    heading = title;
    const when = atUs === null ? 'not passed here' : proseDuration(atUs);
    terminal.print(`  ${place.name.padEnd(width)}  ${when.padStart(10)}  ${aboutPlace(place)}`);
  }
  const words = [...new Set(places.flatMap(({ word }) => word ?? []))].sort();
  const example = `\`before: ${words[0] ?? 'read'}\``;
  terminal.print('');
  terminal.print(`words for points in any section: ${words.join(', ')}, as in ${example}`);
  terminal.print('messages: the name of an operation and /1/request or /1/reply');
  terminal.print('');
}

function aboutPlace({ kind, name, server, call, answer }: PlacePassed): string {
  if (kind === 'timer') return 'timer, for `late-timer`';
  if (kind === 'mark') return 'mark';
  if (call === null) return 'operation';
  const label = name.split('/').slice(2).join('/').replace(/-\d+$/, '');
  const at = server === null ? '' : ` at ${server}`;
  return `${callText(call, label)}${at}${answer === null ? '' : `: ${answerText(answer)}`}`;
}

function callText(call: Call, label: string): string {
  if ('key' in call) return `${call.verb} ${call.key}`;
  const verb = call.verb === label || call.verb === 'fetch' ? '' : ` (${call.verb})`;
  return call.lock === '' ? `${label}${verb}` : `${label} ${call.lock}${verb}`;
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
