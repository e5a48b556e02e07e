/**
 * What each store compares and remembers: one row a variant, so that they differ only where one can
 * see it.
 */

export interface FenceRule {
  /** Which accesses are refused: by comparing their token with the highest registered one. */
  readonly refuses: 'nothing' | 'lower' | 'lower-or-equal' | 'lower-or-repeated';
  /** Whether a read is compared and registers its token too. */
  readonly coversReads: boolean;
  /** Whether a client must announce its token (`open`) before its first access. */
  readonly needsOpen: boolean;
  /** What has a highest token of its own: a whole resource, or each of its keys. */
  readonly scope: 'resource' | 'key';
  /** Whether the highest token survives a crash. */
  readonly isDurable: boolean;
  /** For `fencepost list`. */
  readonly about: string;
}

const fenced: FenceRule = {
  refuses: 'lower',
  coversReads: false,
  needsOpen: false,
  scope: 'resource',
  isDurable: true,
  about: 'refuses a write whose token is below the highest of its resource; equal is accepted',
};

/** The stores by name. */
export const stores: ReadonlyMap<string, FenceRule> = new Map([
  ['unfenced', { ...fenced, refuses: 'nothing', about: 'accepts every write' }],
  ['fenced', fenced],
  [
    'fenced-strict',
    {
      ...fenced,
      refuses: 'lower-or-equal',
      about: 'refuses an equal token too: one write per grant',
    },
  ],
  [
    'fenced-reads',
    {
      ...fenced,
      coversReads: true,
      about: 'a read registers its token, and is refused, as a write is',
    },
  ],
  [
    'fenced-open',
    {
      ...fenced,
      coversReads: true,
      needsOpen: true,
      about: 'a holder announces its token first, which shuts out all earlier ones',
    },
  ],
  [
    'fenced-sequenced',
    {
      ...fenced,
      refuses: 'lower-or-repeated',
      about: 'orders the writes of one token by a sequence number: no reordering, no repetition',
    },
  ],
  [
    'fenced-volatile',
    { ...fenced, isDurable: false, about: 'forgets its highest token in a crash' },
  ],
  ['fenced-per-key', { ...fenced, scope: 'key', about: 'keeps a highest token per key' }],
]);
