/** What clients ask of servers, and what they are answered, as a trace has it. */

/** What a call asks of a lock service, a queue or a store. */
export type Call =
  | {
      /**
       * `check` is a store's question: is this the token of a lease that still runs? `fetch` is a
       * client's: which token is the current one? `receive`, `send` and `delete` are what workers
       * ask of the queue that brings them their steps.
       */
      readonly verb:
        | ('acquire' | 'renew' | 'release' | 'claim' | 'check' | 'fetch')
        | ('receive' | 'send' | 'delete');
      readonly lock: string;
      readonly token: number;
    }
  | {
      /** `fence` asks for the highest token and touches no value. */
      readonly verb: 'read' | 'write' | 'open' | 'fence';
      readonly store: string;
      readonly resource: string;
      readonly key: string;
      /** Null on a read. */
      readonly value: number | null;
      readonly token: number;
      /** What a write adds to the value that its section read (an increment); else null. */
      readonly adds: number | null;
      /** The first operation of those that carry out what this write is for; absent on itself. */
      readonly repeats?: string;
      /**
       * The last operation by which the guard of asynchronous code knew the key that it writes;
       * absent: it knew nothing of it, or a workload says what is written.
       */
      readonly base?: string;
      /** The version that a write expects, null: of a key never written; absent: any. */
      readonly version?: number | null;
    };

/** How a lock service or a store answered a call. */
export type Answer =
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'denied'; readonly holder: string }
  | { readonly kind: 'renewed' }
  | { readonly kind: 'released' }
  /** A version is that of the key afterwards, null where it was never written. */
  | {
      readonly kind: 'accepted';
      readonly version?: number | null;
      /** It had been applied before, and nothing has changed. */
      readonly isRepeated?: true;
    }
  | { readonly kind: 'current' | 'outdated' }
  | {
      /** Compared with the highest token, or, where there is one, with the present version. */
      readonly kind: 'refused';
      readonly highest: number;
      readonly version?: number | null;
      /** The rule of the table that it would break, although its version is right. */
      readonly check?: string;
    }
  | { readonly kind: 'value'; readonly value: number; readonly version?: number | null };
