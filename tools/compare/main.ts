/** `npm run compare -- [seeds]`: see `compare.ts`. */
import { compare } from './compare.ts';

for (const line of await compare(Number(process.argv[2] ?? 60))) console.log(line);
