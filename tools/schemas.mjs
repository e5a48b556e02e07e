/** Writes the schemas into the built package as the command line prints them, without the spaces. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

for (const [file, args] of [
  ['scenario.schema.json', ['schema']],
  ['output.schema.json', ['schema', '--output']],
]) {
  const printed = execFileSync('node', [`${dist}cli.js`, ...args], { encoding: 'utf8' });
  writeFileSync(dist + file, `${JSON.stringify(JSON.parse(printed))}\n`);
}
