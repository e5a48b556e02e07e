/** Tests each lock model with handwritten histories that it allows and that it forbids. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../check-history.ts';
import type { History } from '../model.ts';
import { allows } from './allows.fixture.ts';
import { type FencedMutexCall, fencedMutex, reentrantFencedMutex } from './fenced-mutex.ts';
import { type LeaseCall, lease } from './lease.ts';
import { anonymousMutex, type MutexCall, mutex, reentrantMutex } from './mutex.ts';
import { type SemaphoreCall, semaphore } from './semaphore.ts';

const acquire = (owner: string, answer: 'granted' | 'denied' = 'granted'): MutexCall => {
  return { name: 'acquire', lock: 'l', owner, answer };
};
const release = (owner: string, answer: 'released' | 'denied' = 'released'): MutexCall => {
  return { name: 'release', lock: 'l', owner, answer };
};

describe('a mutex', () => {
  it('passes from its owner to the next', () => {
    const calls = [acquire('a'), acquire('b', 'denied'), release('b', 'denied'), release('a')];
    expect(allows(mutex(), [...calls, acquire('b')])).toBe(true);
  });
  it('is never granted twice', () => {
    expect(allows(mutex(), [acquire('a'), acquire('b')])).toBe(false);
    expect(allows(mutex(), [acquire('a'), acquire('a')])).toBe(false);
  });
  it('is released only by its owner', () => {
    expect(allows(mutex(), [acquire('a'), release('b')])).toBe(false);
  });
  it('is not denied while it is free', () => {
    expect(allows(mutex(), [acquire('a', 'denied')])).toBe(false);
    expect(allows(mutex(), [acquire('a'), release('a', 'denied')])).toBe(false);
  });
});

describe('an anonymous mutex', () => {
  it('may be released by any client', () => {
    const calls = [acquire('a'), acquire('b', 'denied'), release('b'), acquire('b')];
    expect(allows(anonymousMutex(), calls)).toBe(true);
  });
  it('is neither granted while it is held nor released while it is free', () => {
    expect(allows(anonymousMutex(), [acquire('a'), acquire('b')])).toBe(false);
    expect(allows(anonymousMutex(), [release('a')])).toBe(false);
  });
});

describe('a reentrant mutex', () => {
  it('is free after as many releases as acquires', () => {
    const calls = [acquire('a'), acquire('a'), release('a'), acquire('b', 'denied'), release('a')];
    expect(allows(reentrantMutex(), [...calls, acquire('b')])).toBe(true);
  });
  it('is not free after fewer, and refuses reentry beyond its limit', () => {
    const twice = [acquire('a'), acquire('a')];
    expect(allows(reentrantMutex(), [...twice, release('a'), acquire('b')])).toBe(false);
    const bounded = reentrantMutex({ maxDepth: 2 });
    expect(allows(bounded, [...twice, acquire('a')])).toBe(false);
    expect(allows(bounded, [...twice, acquire('a', 'denied')])).toBe(true);
  });
});

describe('a fenced mutex', () => {
  const grant = (owner: string, token: number): FencedMutexCall => {
    return { name: 'acquire', lock: 'l', owner, answer: 'granted', token };
  };
  const free = (owner: string): FencedMutexCall => {
    return { name: 'release', lock: 'l', owner, answer: 'released' };
  };
  it('gives a higher token with every grant', () => {
    expect(allows(fencedMutex(), [grant('a', 1), free('a'), grant('b', 5)])).toBe(true);
    expect(allows(fencedMutex(), [grant('a', 5), free('a'), grant('b', 5)])).toBe(false);
    expect(allows(fencedMutex(), [grant('a', 5), grant('b', 6)])).toBe(false);
  });
  const unseen: FencedMutexCall = {
    name: 'acquire',
    lock: 'l',
    owner: 'a',
    answer: 'granted',
    token: null,
  };
  it.each([0, -3])('may give %d as its first token', (token) => {
    expect(allows(fencedMutex(), [grant('a', token), free('a'), grant('b', token + 1)])).toBe(true);
    expect(allows(fencedMutex(), [grant('a', token), free('a'), grant('b', token)])).toBe(false);
    expect(allows(fencedMutex(), [unseen, free('a'), grant('b', token)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [grant('a', token), grant('a', token)])).toBe(true);
  });
  it('reserves a token for a grant whose token is unknown', () => {
    const around = (last: number): FencedMutexCall[] => {
      return [grant('a', 1), free('a'), unseen, free('a'), grant('b', last)];
    };
    expect(allows(fencedMutex(), around(3))).toBe(true);
    expect(allows(fencedMutex(), around(2))).toBe(false);
  });
  it('infers the unknown token of a first grant from a second one', () => {
    const calls = [unseen, grant('a', 5), free('a'), free('a')];
    expect(allows(reentrantFencedMutex(), [...calls, grant('b', 6)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [...calls, grant('b', 5)])).toBe(false);
    const later = [grant('b', 4), free('b'), ...calls];
    expect(allows(reentrantFencedMutex(), [...later, grant('b', 6)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [grant('b', 5), free('b'), ...calls])).toBe(false);
  });
  it('has no known token before the first grant', () => {
    const { describeState, init } = fencedMutex();
    expect(describeState?.(init)).toBe('it is free and no token is known yet');
  });
  it('gives the same token again while it is held, if it is reentrant', () => {
    const again = [grant('a', 3), grant('a', 3), free('a'), free('a')];
    expect(allows(reentrantFencedMutex(), [...again, grant('b', 4)])).toBe(true);
    expect(allows(reentrantFencedMutex(), [grant('a', 3), grant('a', 4)])).toBe(false);
    expect(allows(reentrantFencedMutex(), [...again, grant('b', 3)])).toBe(false);
  });
  it('refuses reentry beyond `maxDepth`, and has no limit without one', () => {
    const often = Array.from({ length: 9 }, () => grant('a', 3));
    expect(allows(reentrantFencedMutex(), often)).toBe(true);
    expect(allows(reentrantFencedMutex({ maxDepth: 9 }), often)).toBe(true);
    expect(allows(reentrantFencedMutex({ maxDepth: 8 }), often)).toBe(false);
  });
});

describe('a semaphore', () => {
  const call = (
    name: 'acquire' | 'release',
    permits: number,
    answer: 'granted' | 'released' | 'denied',
  ): SemaphoreCall => {
    const named = { semaphore: 's', permits };
    if (name === 'acquire' && answer !== 'released') return { name, ...named, answer };
    return { name: 'release', ...named, answer: answer === 'denied' ? answer : 'released' };
  };
  const two = call('acquire', 2, 'granted');
  it('grants if enough permits are left, and denies only if not', () => {
    const calls = [two, call('acquire', 2, 'denied'), call('acquire', 1, 'granted')];
    expect(allows(semaphore(3), [...calls, call('release', 2, 'released'), two])).toBe(true);
    expect(allows(semaphore(3), [two, two])).toBe(false);
    expect(allows(semaphore(3), [call('acquire', 3, 'denied')])).toBe(false);
  });
  it('takes back at most the permits that it gave', () => {
    expect(allows(semaphore(3), [two, call('release', 3, 'released')])).toBe(false);
    expect(allows(semaphore(3), [two, call('release', 3, 'denied')])).toBe(true);
  });
});

describe('a lease', () => {
  const take = (owner: string): LeaseCall => {
    return { name: 'acquire', lease: 'l', owner, answer: 'granted' };
  };
  const renew = (owner: string, answer: 'renewed' | 'denied'): LeaseCall => {
    return { name: 'renew', lease: 'l', owner, answer };
  };
  it('may expire at any time', () => {
    expect(allows(lease(), [take('a'), take('b'), renew('a', 'denied')])).toBe(true);
    expect(allows(lease(), [take('a'), renew('a', 'denied'), take('b')])).toBe(true);
  });
  it('is not renewed for a client that lost it', () => {
    expect(allows(lease(), [take('a'), take('b'), renew('a', 'renewed')])).toBe(false);
    const expired: LeaseCall = { name: 'expire', lease: 'l' };
    expect(allows(lease(), [take('a'), expired, renew('a', 'renewed')])).toBe(false);
    expect(allows(lease(), [take('a'), renew('a', 'denied'), renew('a', 'renewed')])).toBe(false);
  });
  it('is not denied while no client holds it', () => {
    const denied: LeaseCall = { name: 'acquire', lease: 'l', owner: 'b', answer: 'denied' };
    expect(allows(lease(), [denied])).toBe(false);
    expect(allows(lease(), [take('a'), denied])).toBe(true);
  });
  it('may or may not stay with its owner after an unanswered acquire', () => {
    const asked: LeaseCall = { name: 'acquire', lease: 'l', owner: 'b', answer: 'unknown' };
    expect(allows(lease(), [take('a'), asked, renew('a', 'renewed')])).toBe(true);
    expect(allows(lease(), [take('a'), asked, renew('b', 'renewed')])).toBe(true);
    expect(allows(lease(), [take('a'), asked, renew('a', 'renewed'), renew('b', 'renewed')])).toBe(
      false,
    );
    // No client held it, so it cannot have been denied.
    expect(allows(lease(), [asked, renew('b', 'denied'), renew('b', 'renewed')])).toBe(false);
    expect(allows(lease(), [asked, renew('b', 'renewed')])).toBe(true);
  });
  it('may be denied to its own holder, whose first attempt was not answered', () => {
    const denied: LeaseCall = { name: 'acquire', lease: 'l', owner: 'a', answer: 'denied' };
    const asked: LeaseCall = { name: 'acquire', lease: 'l', owner: 'a', answer: 'unknown' };
    const history: History<LeaseCall> = [
      { client: 'a', call: asked, invoke: 0, return: null, outcome: 'info' },
      { client: 'a', call: denied, invoke: 2, return: 3, outcome: 'ok' },
    ];
    expect(checkHistory(history, lease()).kind).toBe('valid');
    expect(checkHistory(history.slice(1), lease()).kind).toBe('invalid');
    expect(allows(lease(), [take('a'), renew('a', 'denied'), denied])).toBe(false);
  });
});
