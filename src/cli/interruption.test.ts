import { afterEach, expect, test, vi } from 'vitest';
import { yieldToEventLoop } from '../host/async/ambient.ts';
import { exits } from '../search/campaign/exit-codes.ts';
import { Interruption } from './interruption.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('the first Ctrl-C is recorded, and the second one ends the process', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('ended');
  });
  const heard: boolean[] = [];
  const interruption = new Interruption();
  interruption.listen(() => heard.push(interruption.isInterrupted, interruption.signal.aborted));
  process.emit('SIGINT');
  expect(heard).toEqual([true, true]);
  expect(exit).not.toHaveBeenCalled();
  expect(() => process.emit('SIGINT')).toThrow('ended');
  interruption.end();
  expect(exit.mock.calls).toEqual([[exits.interrupted]]);
});

test('Ctrl-C has no effect before `listen` and after `end`', () => {
  const before = process.listeners('SIGINT');
  const interruption = new Interruption();
  expect(process.listeners('SIGINT')).toEqual(before);
  interruption.listen();
  expect(process.listeners('SIGINT')).toHaveLength(before.length + 1);
  interruption.end();
  expect(process.listeners('SIGINT')).toEqual(before);
});

test('the thread gets a turn while timers are faked', async () => {
  vi.useFakeTimers();
  await expect(yieldToEventLoop()).resolves.toBeUndefined();
});
