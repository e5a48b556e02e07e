/**
 * What a client of a plan does whose lock is asynchronous code: its sections one after the other,
 * each with the wait before it, whatever became of those before.
 */

import { type Name, under } from '../../core/kernel/name.ts';
import { backOff, sleep } from '../../core/world/program.ts';
import type { AsyncClient, AsyncClientSetting, SectionProgram } from '../../systems/protocol.ts';
import { errorText } from '../../text/error-text.ts';
import type { AsyncProgram, Context } from './async-host.ts';
import { PlannedSection, perform } from './planned-section.ts';

export function clientProgram(setting: AsyncClientSetting): AsyncProgram {
  const { plan, role, programOf } = setting;
  return async (context) => {
    const { host, life } = context;
    const program: unknown = programOf(clientOf(context, plan));
    if (!isProgram(program)) throw new TypeError('a client is to give a function for its sections');
    for (const section of plan.sections.slice(context.begun)) {
      const calls = context.section(section.id);
      const planned = new PlannedSection(section, { host, life, calls, client: setting });
      await perform(host, life, sleep(under(calls.name, 'think'), section.thinkUs));
      await goThrough(program, planned, context);
      if (role === 'probe') await insist(program, planned, { context, name: calls.name, plan });
      planned.end();
    }
  };
}

function isProgram(given: unknown): given is SectionProgram {
  return typeof given === 'function';
}

function isGenerator(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'next' in given;
}

function clientOf(context: Context, plan: AsyncClient['plan']): AsyncClient {
  return {
    name: context.name,
    plan,
    life: context.life.ordinal,
    call: (port, ask, options) => context.call(port, ask, options),
    log: (topic, text) => context.log(topic, text),
  };
}

/** One run of the program; whatever the world did to it is no failure of the run. */
async function goThrough(
  program: SectionProgram,
  section: PlannedSection,
  context: Context,
): Promise<void> {
  try {
    const ended: unknown = program(section);
    if (isGenerator(ended)) throw new TypeError('a section is to be asynchronous, no generator');
    await ended;
  } catch (error) {
    if (isMistake(error)) context.life.fail(error);
    else context.log('section', `section ${section.id} ended: ${textOf(error)}`);
  }
}

/** The probe, who comes when all is healed, tries until it had the lock. */
async function insist(
  program: SectionProgram,
  section: PlannedSection,
  { context, name, plan }: { context: Context; name: Name; plan: AsyncClient['plan'] },
): Promise<void> {
  const { host, life } = context;
  for (let attempt = 2; attempt <= plan.attempts && !section.hasEntered; attempt += 1) {
    const pause = under(name, `backoff-${attempt - 1}`);
    await perform(host, life, backOff(pause, plan.backoffUs));
    await goThrough(program, section, context);
  }
}

const MISTAKES: readonly string[] = [
  ...['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'EvalError'],
  ...['AssertionError', 'LeftTheWorld'],
];

/** Whether the code is wrong, rather than the world it met. */
function isMistake(error: unknown): boolean {
  return !(error instanceof Error) || MISTAKES.includes(error.name);
}

const LONGEST = 200;

function textOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${errorText(error)}` : errorText(error);
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
