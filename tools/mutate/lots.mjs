// The lot of a mutant, by which `npm run mutation` draws: it depends on the seed, the place and
// the change alone, so that the same ones are tried again.
const SEED = process.env['FENCEPOST_MUTATION_SEED'] ?? '1';
const SHARE = Number(process.env['FENCEPOST_MUTATION_SHARE'] ?? '0.01');

/** FNV-1a, finished as murmur3 is. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** From 0 to 1, for a mutant as Stryker describes it. */
export function lotOf({ fileName, location: { start, end }, mutatorName, replacement }) {
  const file = fileName.replace(/^.*?(?=src\/)/, '');
  const place = [start.line, start.column, end.line, end.column];
  return hashOf(JSON.stringify([SEED, file, ...place, mutatorName, replacement])) / 2 ** 32;
}

export function isDrawn(mutant) {
  return lotOf(mutant) < SHARE;
}
