/** `fencepost list`: the words that a scenario may use, each with what it means. */

import { aboutClaims } from '../check/about.ts';
import { claims } from '../check/claims.ts';
import type { OptionInfo } from '../systems/protocol.ts';
import { protocols } from '../systems/protocols.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { type Exit, exits } from './exit.ts';

export function listCommand(isJson: boolean): Exit {
  const groups = {
    locks: [...protocols].flatMap(([name, { about, source, options }]) => [
      { name, about: `${about} [${source}]` },
      ...options.map(optionRow),
    ]),
    stores: [...storeKinds].map(([name, { about, source }]) => ({
      name,
      about: `${about} [${source}]`,
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

/** An option, indented below its lock. */
function optionRow({ name, values, fallback, about }: OptionInfo): { name: string; about: string } {
  const choice = values === 'integer' ? 'a number' : values.join(' | ');
  return { name: `  ${name}: ${choice}`, about: `${about} (${fallback})` };
}
