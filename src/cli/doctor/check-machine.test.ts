import { describe, expect, test } from 'vitest';
import { checkClock, checkMemory, checkNode } from './check-machine.ts';

test('a Node that is too old is a problem', () => {
  expect(checkNode('20.19.0', '>=20.19', 'linux x64').status).toBe('ok');
  expect(checkNode('18.20.0', '>=20.19', 'linux x64')).toMatchObject({
    status: 'problem',
    what: expect.stringContaining('18.20.0'),
    fix: expect.stringContaining('install'),
  });
});

test('more workers than memory is a warning that says how many fit', () => {
  const workerMb = 512;
  expect(checkMemory({ cores: 4, memoryMb: 8192, workerMb }).status).toBe('ok');
  const { status, fix } = checkMemory({ cores: 64, memoryMb: 4096, workerMb });
  expect([status, fix]).toEqual(['warning', expect.stringContaining('--workers 7')]);
  expect(checkMemory({ cores: 2, memoryMb: 256, workerMb }).fix).toContain('--workers 1');
});

describe('a clock', () => {
  const nowMs = Date.UTC(2026, 5);
  const sane = {
    wallMs: [nowMs, nowMs + 60],
    monotonicMs: [10, 70],
    fileMs: nowMs + 55,
  } as const;

  test('that goes on, and agrees with the others, is well', () => {
    expect(checkClock(sane).status).toBe('ok');
    expect(checkClock({ ...sane, fileMs: null }).status).toBe('ok');
  });

  test('that stands still, jumps, or lies far off is told', () => {
    expect(checkClock({ ...sane, monotonicMs: [10, 10] }).status).toBe('problem');
    const frozen = { ...sane, monotonicMs: [0, 500], wallMs: [nowMs, nowMs] } as const;
    expect(checkClock(frozen)).toMatchObject({ status: 'warning' });
    const back = { ...sane, wallMs: [nowMs, nowMs - 3_600_000] } as const;
    expect(checkClock(back).what).toContain('-3600000 ms');
    expect(checkClock({ ...sane, wallMs: [0, 60] }).what).toContain('1970');
    expect(checkClock({ ...sane, fileMs: nowMs - 90_000 }).what).toContain('90 s');
  });
});
