/** Calls of clients to servers, and their answers, as recorded in a trace. */

/** A request to a lock service, a queue or a store. */
export type Call =
  | {
      /**
       * `check`: a store asks whether the token's lease is still running. `fetch`: a client asks
       * for the current token. `receive`, `send` and `delete`: a worker's requests to the queue
       * that delivers its steps.
       */
      readonly verb:
        | ('acquire' | 'renew' | 'release' | 'claim' | 'check' | 'fetch')
        | ('receive' | 'send' | 'delete');
      readonly lock: string;
      readonly token: number;
    }
  | {
      /** `fence` asks for the highest token and accesses no value. */
      readonly verb: 'read' | 'write' | 'open' | 'fence';
      readonly store: string;
      readonly resource: string;
      readonly key: string;
      /** Null for a read. */
      readonly value: number | null;
      readonly token: number;
      /** Amount that an increment adds; null for other calls. */
      readonly adds: number | null;
      /** First operation of the same logical write; absent on that operation itself. */
      readonly repeats?: string;
      /** In asynchronous code, the guard's last access to this key; absent if there was none. */
      readonly base?: string;
      /** Expected version, or null if the key must never have been written. Absent: any. */
      readonly version?: number | null;
    };

/** The answer of a lock service or a store. */
export type Answer =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'denied'; readonly holder: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'released' }
  /** `version` is the key's version after the access, or null if the key was never written. */
  | {
      readonly kind: 'accepted';
      readonly version?: number | null;
      /** True if the same write had been applied before, so that nothing changed. */
      readonly isRepeated?: true;
    }
  | { readonly kind: 'current' | 'outdated' }
  | {
      /** Refused because of `version` if present, else because of the highest token. */
      readonly kind: 'refused';
      readonly highest: number;
      readonly version?: number | null;
      /** The table rule that the write would violate, although its version is right. */
      readonly check?: string;
    }
  | { readonly kind: 'value'; readonly value: number; readonly version?: number | null };
