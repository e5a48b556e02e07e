// Makes the sample in reports/sample, and the README's picture and failure, anew: `npm run sample`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const cli = resolve('dist/cli.js');

/** What the main job prints in a folder, with these arguments. */
function print(cwd, ...args) {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout, status } = spawnSync('node', [cli, 'run', ...args], {
    encoding: 'utf8',
    cwd,
    env,
  });
  if (status !== 0) throw new Error(`the run ended with ${status}`);
  return stdout;
}

const folder = 'reports/sample';
mkdirSync(folder, { recursive: true });
print('.', 'fixtures/zombie-writer.yaml', '--output', folder);

// The README's picture is the first one of the page, by itself.
const [picture] = /<svg [\s\S]*?<\/svg>/.exec(readFileSync(`${folder}/zombie-writer.html`, 'utf8'));
writeFileSync('docs/zombie-writer.svg', `${picture}\n`);

// As it is printed where somebody has installed fencepost: longer paths would leave less room.
const elsewhere = mkdtempSync(join(tmpdir(), 'fencepost-sample-'));
const text = print(elsewhere, 'zombie-writer');
rmSync(elsewhere, { recursive: true });
const shown = text.slice(text.indexOf('✗'), text.indexOf('\n\n', text.indexOf('keep:')));
const marks = /(<!-- failure:begin -->\n)[\s\S]*(<!-- failure:end -->)/;
const readme = readFileSync('README.md', 'utf8');
writeFileSync(
  'README.md',
  readme.replace(marks, (_, begin, end) => `${begin}\`\`\`text\n${shown}\n\`\`\`\n${end}`),
);
