/**
 * The client's side of the lock service: caches its token per lock and attaches it to what it
 * writes.
 */
import type { Grant } from './lock-service.ts';

export class LockClient {
  readonly id: string;
  private readonly tokens: Map<string, number> = new Map();

  constructor(id: string) {
    this.id = id;
  }

  /** Keeps the token of a grant; a later grant of the same lock replaces it. */
  remember(grant: Pick<Grant, 'lock' | 'token'>): void {
    this.tokens.set(grant.lock, grant.token);
  }

  /** Forgets the token of a lock, after its release. */
  forget(lock: string): void {
    this.tokens.delete(lock);
  }

  /**
   * The token to attach to an access under `lock`; 0, below every token of a grant, when it has
   * none.
   */
  token(lock: string): number {
    return this.tokens.get(lock) ?? 0;
  }
}
