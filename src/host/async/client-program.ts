/**
 * Runs the planned sections of a client whose lock is asynchronous code, one at a time or several
 * at once. Each section begins after its think time, regardless of how earlier sections ended.
 */

import { under } from '../../core/kernel/name.ts';
import { BEGIN } from '../../core/plan/operation-names.ts';
import { backOff, sleep } from '../../core/world/program.ts';
import type { AsyncClient, AsyncClientSetting, SectionProgram } from '../../systems/protocol.ts';
import { contextNow } from './async-context.ts';
import type { AsyncProgram, Context, SectionCalls } from './async-host.ts';
import { PlannedSection, perform } from './planned-section.ts';
import { inSection } from './section-context.ts';
import { isMistake, lineOf, unfinished } from './section-error.ts';

export function clientProgram(setting: AsyncClientSetting): AsyncProgram {
  const { plan, role, programOf } = setting;
  return async (context) => {
    const { host, incarnation } = context;
    const program: unknown = programOf(clientOf(context, plan));
    if (!isProgram(program))
      throw new TypeError(
        'the lock must return, for each client, a function that runs its sections',
      );
    // Each section runs in its own asynchronous context, like a request to a service.
    const asEvent = contextNow('PROGRAM');
    const { concurrency = 1 } = plan;
    const isOneOfSeveral = concurrency > 1;
    if (isOneOfSeveral) context.runSeveral();
    const waiting = plan.sections.slice(context.begun);
    const strand = async (): Promise<void> => {
      for (let section = waiting.shift(); section !== undefined; section = waiting.shift()) {
        if (incarnation.failure !== null) return;
        const calls = context.section(section.id);
        const planned = new PlannedSection(section, { host, incarnation, calls, client: setting });
        await perform(host, incarnation, sleep(under(calls.name, 'think'), section.thinkUs));
        // The section may now wait without making a call; this mark shows that it has begun.
        if (isOneOfSeveral) await calls.mark(BEGIN);
        const place = { context, calls };
        const run = (): Promise<boolean> => attempts.goThrough(program, planned, place);
        const attempt = (): Promise<boolean> =>
          asEvent(isOneOfSeveral ? () => inSection(calls, run) : run);
        if (role === 'probe') await insist(attempt, planned, { ...place, plan });
        else await attempt();
        planned.end();
        if (!incarnation.isOver) host.sectionLog.end(calls.name, !planned.hasEntered);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, strand));
  };
}

interface Place {
  readonly context: Context;
  readonly calls: SectionCalls;
}

function isProgram(value: unknown): value is SectionProgram {
  return typeof value === 'function';
}

function clientOf(context: Context, plan: AsyncClient['plan']): AsyncClient {
  return {
    name: context.name,
    plan,
    incarnation: context.incarnation.ordinal,
    call: (port, ask, options) => context.call(port, ask, options),
    log: (topic, text) => context.log(topic, text),
  };
}

/**
 * An object with a method, because the built package keeps the names of methods. Stacks identify
 * the awaits of a section by this name.
 */
const attempts = {
  /**
   * Runs the program once. Returns true if the program took no guard although nothing was denied.
   * Errors that faults cause do not fail the run.
   */
  async goThrough(
    program: SectionProgram,
    section: PlannedSection,
    { context, calls }: Place,
  ): Promise<boolean> {
    const { host, incarnation } = context;
    calls.log.isDenied = false;
    try {
      const ended: unknown = program(section);
      if (typeof ended === 'object' && ended !== null && 'next' in ended) {
        throw new TypeError('a section must be an async function, not a generator');
      }
      await ended;
      section.requireSettled();
      const { forgotten } = calls.log;
      if (forgotten !== null) {
        host.noteError(incarnation, calls.name, unfinished(forgotten, 'its section ended'));
      }
      return !section.hasEntered && !calls.log.isDenied;
    } catch (error) {
      host.noteError(incarnation, calls.name, error);
      if (isMistake(error)) incarnation.fail(error);
      else context.log('section', `section ${section.id} ended: ${lineOf(error)}`);
      return false;
    }
  },
};

/** Maximum number of consecutive attempts without a guard or a denial. */
const UNGUARDED_ATTEMPTS = 3;

/**
 * Repeats the probe's attempts until one gets the lock, or until the program clearly uses no lock.
 */
async function insist(
  attempt: () => Promise<boolean>,
  section: PlannedSection,
  { context, calls, plan }: Place & { readonly plan: AsyncClient['plan'] },
): Promise<void> {
  const { host, incarnation } = context;
  let unguarded = (await attempt()) ? 1 : 0;
  for (let number = 2; number <= plan.attempts && !section.hasEntered; number += 1) {
    if (unguarded === UNGUARDED_ATTEMPTS) return;
    const pause = under(calls.name, `backoff-${number - 1}`);
    await perform(host, incarnation, backOff(pause, plan.backoffUs));
    unguarded = (await attempt()) ? unguarded + 1 : 0;
  }
}
