/** Says how output will look here, and why. */
import { type Check, ok, warning } from './check.ts';

export interface TerminalFacts {
  readonly isTerminal: boolean;
  readonly hasColour: boolean;
  readonly width: number;
  /** The environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const NARROW = 60;

export function checkTerminal({ isTerminal, hasColour, width, env }: TerminalFacts): Check {
  const where = isTerminal ? `a terminal of ${width} columns` : 'no terminal: plain lines';
  const reasons = ['NO_COLOR', 'FORCE_COLOR', 'TERM', 'CI'].flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [`${name}=${value}`];
  });
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const what = `${where}, ${hasColour ? 'in colour' : 'without colour'}${why}`;
  if (!isTerminal || width >= NARROW) return ok('terminal', what);
  return warning('terminal', what, `make it at least ${NARROW} columns wide, better 100`);
}
