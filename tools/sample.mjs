// Makes the sample in reports/sample and the failure in the README anew: `npm run sample`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const folder = 'reports/sample';
mkdirSync(folder, { recursive: true });
const { stdout, status } = spawnSync(
  'node',
  ['dist/cli.js', 'run', 'fixtures/zombie-writer.yaml', '--output', folder],
  { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
);
if (status !== 0) throw new Error(`the run ended with ${status}`);
const block = stdout.slice(stdout.indexOf('✗'), stdout.indexOf('\n\n', stdout.indexOf('keep:')));
const shown = block.replaceAll(`${folder}/`, 'reports/');
const marks = /(<!-- failure:begin -->\n)[\s\S]*(<!-- failure:end -->)/;
const readme = readFileSync('README.md', 'utf8');
writeFileSync(
  'README.md',
  readme.replace(marks, (_, begin, end) => `${begin}\`\`\`text\n${shown}\n\`\`\`\n${end}`),
);
