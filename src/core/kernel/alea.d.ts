/** The pure generator of `seedrandom`, which the package's own types leave out. */
declare module 'seedrandom/lib/alea.js' {
  interface Stream {
    /** A float in [0, 1) of 32 bits. */
    (): number;
    /** A signed 32-bit integer. */
    int32(): number;
  }
  export default function alea(seed: string): Stream;
}
