/** What calls of locks are called and what they need, in the sentences of an explanation. */
import { oneOf, type Shapes, text } from '../call-shape.ts';
import type { MutexCall } from './mutex.ts';

/** What the calls of a lock must hold. */
export const lockShapes: Shapes<MutexCall> = {
  acquire: { lock: text, owner: text, answer: oneOf('granted', 'denied', 'unknown') },
  release: { lock: text, owner: text, answer: oneOf('released', 'denied', 'unknown') },
};

/** `acquire(db)=granted`. */
export function describeLockCall(call: MutexCall): string {
  return `${call.name}(${call.lock})=${call.answer}`;
}

export function mutexNeeds(call: MutexCall): string {
  const isDenied = call.answer === 'denied';
  if (call.name === 'acquire') {
    return isDenied ? 'somebody else to hold the lock' : 'the lock to be free';
  }
  return isDenied ? `the lock not to be held by ${call.owner}` : `${call.owner} to hold the lock`;
}

/** A state that is an owner, or null. */
export function describeOwner(owner: string | null): string {
  return owner === null ? 'it is free' : `${owner} holds it`;
}
