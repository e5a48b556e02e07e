/** `fencepost list`: the words that a scenario may use, each with what it means. */

import { aboutClaims } from '../check/about.ts';
import { claims } from '../check/claims.ts';
import { locks, options } from '../systems/assemble.ts';
import { stores } from '../systems/store/fence.ts';
import { type Exit, exits } from './exit.ts';

export function listCommand(isJson: boolean): Exit {
  const groups = {
    locks: [...locks].map(([name, { about }]) => ({ name, about })),
    stores: [...stores].map(([name, { about }]) => ({ name, about })),
    options: options.map(({ name, values, fallback, about }) => ({
      name: `${name}: ${values === 'integer' ? 'a number' : values.join(' | ')}`,
      about: `${about} (${fallback})`,
    })),
    claims: [...claims.keys()].map((name) => ({ name, about: aboutClaims.get(name) ?? '' })),
  };
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ type: 'list', ...groups })}\n`);
    return exits.met;
  }
  for (const [title, rows] of Object.entries(groups)) {
    process.stdout.write(`${title}\n`);
    const width = Math.max(...rows.map(({ name }) => name.length));
    for (const { name, about } of rows) {
      process.stdout.write(`  ${name.padEnd(width)}  ${about}\n`);
    }
  }
  return exits.met;
}
