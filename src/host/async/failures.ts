/**
 * Brings what nobody caught in a simulated process to that process, and all else to those who
 * listened before: an unhandled rejection, and an exception in a callback of Node's own.
 */
import process from 'node:process';
import { ambient } from './ambient.ts';
import { inRealTurn } from './real.ts';

const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

type Listener = (...args: unknown[]) => unknown;

/** How many ask for it, and who listened before the first of them did. */
let users = 0;
let before: ReadonlyMap<string, readonly Listener[]> = new Map();

/** Listens until what it returns is called. */
export function routeFailures(): () => void {
  users += 1;
  if (users === 1) listen();
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    users -= 1;
    if (users === 0) stopListening();
  };
}

const routers: ReadonlyMap<string, Listener> = new Map(
  EVENTS.map((event) => [event, (...args: unknown[]) => route(event, args)]),
);

function listen(): void {
  const emitter: NodeJS.EventEmitter = process;
  before = new Map(
    EVENTS.map((event) => {
      const listeners = emitter.rawListeners(event).filter(isListener);
      return [event, listeners];
    }),
  );
  for (const [event, router] of routers) {
    emitter.removeAllListeners(event);
    emitter.on(event, router);
  }
}

function isListener(value: unknown): value is Listener {
  return typeof value === 'function';
}

function stopListening(): void {
  const emitter: NodeJS.EventEmitter = process;
  for (const [event, router] of routers) {
    emitter.off(event, router);
    for (const listener of before.get(event) ?? []) emitter.on(event, listener);
  }
}

function route(event: string, args: readonly unknown[]): void {
  const { current } = ambient;
  if (current !== null) {
    current.fail(args[0]);
    return;
  }
  const listeners = before.get(event) ?? [];
  for (const listener of listeners) Reflect.apply(listener, process, args);
  if (listeners.length > 0) return;
  // Nobody listened, so Node is to do what it does then.
  users = 0;
  stopListening();
  inRealTurn(() => {
    throw args[0];
  });
}
