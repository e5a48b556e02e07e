/** The pure generator of `seedrandom`, which the package's own types omit. */
declare module 'seedrandom/lib/alea.js' {
  interface Stream {
    /** Returns a 32-bit float in [0, 1). */
    (): number;
    /** Returns a signed 32-bit integer. */
    int32(): number;
  }
  export default function alea(seed: string): Stream;
}
