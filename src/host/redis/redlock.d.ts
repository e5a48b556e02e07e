/**
 * Types for the part of npm redlock that tests use. TypeScript finds no types in either version.
 */
declare module 'redlock' {
  interface Settings {
    readonly retryCount?: number;
    readonly retryDelay?: number;
    readonly retryJitter?: number;
    readonly automaticExtensionThreshold?: number;
  }
  interface Lock {
    readonly value: string;
    readonly expiration: number;
    extend(durationMs: number): Promise<Lock>;
    release(): Promise<object>;
  }
  export default class Redlock {
    constructor(clients: readonly object[], settings?: Settings);
    acquire(resources: readonly string[], durationMs: number): Promise<Lock>;
    using<T>(
      resources: readonly string[],
      durationMs: number,
      settings: Settings,
      routine: (signal: AbortSignal) => Promise<T>,
    ): Promise<T>;
    on(event: string, listener: (error: Error) => void): void;
  }
}

declare module 'redlock-4' {
  interface Options {
    readonly retryCount?: number;
    readonly retryDelay?: number;
    readonly retryJitter?: number;
  }
  interface Lock {
    readonly value: string;
    readonly expiration: number;
    extend(ttlMs: number): Promise<Lock>;
    unlock(): Promise<void>;
  }
  export default class Redlock {
    constructor(clients: readonly object[], options?: Options);
    lock(resource: string | readonly string[], ttlMs: number): Promise<Lock>;
    on(event: string, listener: (error: Error) => void): void;
  }
}
