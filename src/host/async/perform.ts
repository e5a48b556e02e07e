/** Runs a generator's steps in the midst of asynchronous code, each at its own point. */

import type { Awaitable } from '../../core/world/calls.ts';
import { Alarm } from '../../core/world/process.ts';
import type { Effect, Program } from '../../core/world/program.ts';
import type { AsyncHost } from './async-host.ts';
import type { Life } from './life.ts';

/** What the program returns; for ever pending where its process does not live to see it. */
export async function perform<T>(host: AsyncHost, life: Life, program: Program<T>): Promise<T> {
  for (;;) {
    const step = program.next();
    if (step.done === true) return step.value;
    const passes = passed(host, life, step.value);
    if (passes !== null) await passes;
  }
}

/** Resolves once the program may go on; null where it may at once. */
function passed(host: AsyncHost, life: Life, effect: Effect): Promise<void> | null {
  switch (effect.kind) {
    case 'send':
      return send(host, life, effect);
    case 'await':
      return effect.call.isSettled ? null : settled(host, life, effect.call);
    case 'mark':
      return host.pass(life, effect.point);
    case 'sleep':
      return slept(host, life, effect);
  }
}

function send(
  host: AsyncHost,
  life: Life,
  { point, launch, awaits }: Extract<Effect, { kind: 'send' }>,
): Promise<void> {
  life.requireInside();
  return new Promise((resolve) => {
    const goOn = (): void => life.run(resolve);
    life.whenRunning(() => {
      host.parts.points.pass('before', point);
      life.next(() => {
        if (awaits !== null) host.await(life, awaits, resolve);
        launch();
        if (awaits === null) goOn();
      });
    });
  });
}

function settled(host: AsyncHost, life: Life, call: Awaitable): Promise<void> {
  return new Promise((resolve) => host.await(life, call, resolve));
}

function slept(
  host: AsyncHost,
  life: Life,
  { timer: name, forUs, isJittered }: Extract<Effect, { kind: 'sleep' }>,
): Promise<void> {
  const { process, parts } = host;
  const { choices } = parts;
  const waitUs = isJittered ? choices.jitteredUs(name, forUs) : choices.waitUs(name, forUs);
  return new Promise((resolve) => {
    const action = (): void => {
      if (!life.isOver) life.run(resolve);
    };
    if (!life.isOver) new Alarm(process, { name, waitUs, action }, parts);
  });
}
