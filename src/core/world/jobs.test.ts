import { describe, expect, test } from 'vitest';
import { Defect } from '../kernel/assert.ts';
import { nameOf } from '../kernel/name.ts';
import { Scheduler } from '../kernel/scheduler.ts';
import { Jobs } from './jobs.ts';
import { Process, type ProcessHost } from './process.ts';

const LIMITS = { endUs: 10, maxEvents: 10 };

function processOf(name: string, resume: () => void): Process {
  const process = new Process({ name, role: 'client' }, 0);
  const processHost: ProcessHost = { crash: () => {}, restart: () => {}, resume };
  process.attach(processHost);
  return process;
}

/** Runs all jobs, and records `jobs` each time those of an owner run. */
function runAll(jobs: Jobs, seen: string[]): readonly string[] {
  for (const _ of jobs.run()) seen.push('jobs');
  return seen;
}

describe('the jobs of a process', () => {
  test('run once, between the start and the end of their owner', () => {
    const jobs = new Jobs(new Scheduler());
    const seen: string[] = [];
    const owner = { begin: () => seen.push('begin'), end: () => seen.push('end') };
    expect(runAll(jobs, [])).toEqual([]);
    jobs.take(owner);
    jobs.take(owner);
    expect(runAll(jobs, seen)).toEqual(['begin', 'jobs', 'end']);
    expect(runAll(jobs, [])).toEqual([]);
  });

  test('halt the loop, which continues after them', () => {
    const scheduler = new Scheduler();
    const jobs = new Jobs(scheduler);
    const fire = (): void => jobs.take({ begin: () => {}, end: () => {} });
    for (const timeUs of [1, 2]) {
      const due = { name: nameOf('e'), timeUs, tie: 0, seq: 0, isCancelled: false };
      scheduler.schedule({ ...due, fire: timeUs === 1 ? fire : () => {} });
    }
    expect([scheduler.run(LIMITS), scheduler.nowUs]).toEqual(['halted', 1]);
    expect([scheduler.run(LIMITS), scheduler.nowUs]).toEqual(['complete', 2]);
  });

  test('belong to one process at a time', () => {
    const jobs = new Jobs(new Scheduler());
    jobs.take({ begin: () => {}, end: () => {} });
    expect(() => jobs.take({ begin: () => {}, end: () => {} })).toThrow(Defect);
  });

  test('block other processes, which then resume once each, until one has jobs again', () => {
    const jobs = new Jobs(new Scheduler());
    const seen: string[] = [];
    const ownerOf = (name: string): Parameters<Jobs['take']>[0] => ({
      begin: () => seen.push(`begin ${name}`),
      end: () => seen.push(`end ${name}`),
    });
    const bob = processOf('bob', () => {
      seen.push('bob goes on');
      jobs.take(ownerOf('bob'));
    });
    const carol = processOf('carol', () => seen.push('carol goes on'));
    expect(jobs.mustWait(bob)).toBe(false);
    jobs.take(ownerOf('alice'));
    expect([jobs.mustWait(bob), jobs.mustWait(carol), jobs.mustWait(bob)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(runAll(jobs, seen)).toEqual([
      'begin alice',
      'jobs',
      'end alice',
      'bob goes on',
      'begin bob',
      'jobs',
      'end bob',
      'carol goes on',
    ]);
    expect(jobs.mustWait(carol)).toBe(false);
  });
});
