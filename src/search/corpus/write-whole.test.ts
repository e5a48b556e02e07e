import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { changeWhole, createWhole } from './write-whole.ts';

const disk = vi.hoisted(() => ({ isFull: false }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const full = (): never => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  const writeSync = (descriptor: number, bytes: Buffer, at: number): number =>
    disk.isFull ? full() : fs.writeSync(descriptor, bytes, at);
  return { ...fs, writeSync };
});

const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, 'plan.yaml');
beforeEach(() => {
  disk.isFull = false;
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

describe('a file is created', () => {
  test('whole, with nothing beside it', () => {
    expect(createWhole(file, 'a: 1\n')).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('a: 1\n');
    expect(readdirSync(folder)).toEqual(['plan.yaml']);
  });

  test('never over another', () => {
    writeFileSync(file, 'theirs');
    expect(createWhole(file, 'ours')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('theirs');
    expect(readdirSync(folder)).toEqual(['plan.yaml']);
  });
});

describe('a file is changed', () => {
  test('while it is what was read, and is deleted for null', () => {
    writeFileSync(file, 'before');
    expect(changeWhole(file, 'before', 'after')).toEqual({ kind: 'done' });
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(changeWhole(file, 'after', null)).toEqual({ kind: 'done' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['ours', null])('to %s not once somebody else has changed it', (after) => {
    writeFileSync(file, 'theirs');
    expect(changeWhole(file, 'before', after)).toEqual({ kind: 'changed' });
    expect(readFileSync(file, 'utf8')).toBe('theirs');
    rmSync(file);
    expect(changeWhole(file, 'before', after)).toEqual({ kind: 'changed' });
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['ours', null])('to %s not while somebody else is at it', (after) => {
    writeFileSync(file, 'before');
    const by = join(folder, '.plan.yaml.new');
    writeFileSync(by, 'half of');
    expect(changeWhole(file, 'before', after)).toEqual({ kind: 'reserved', by });
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readFileSync(by, 'utf8')).toBe('half of');
  });
});

describe('a disk that is full', () => {
  test('leaves nothing of a file that is created', () => {
    disk.isFull = true;
    expect(() => createWhole(file, 'a: 1\n')).toThrow('no space left');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('leaves a file that is changed as it was, and free to be changed', () => {
    writeFileSync(file, 'before');
    disk.isFull = true;
    expect(() => changeWhole(file, 'before', 'after')).toThrow('no space left');
    expect(readdirSync(folder)).toEqual(['plan.yaml']);
    disk.isFull = false;
    expect(changeWhole(file, 'before', 'after')).toEqual({ kind: 'done' });
  });
});
