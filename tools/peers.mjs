// Packs fencepost, installs it with each of the versions that docs/library.md and docs/fleet.md
// name, and uses it there: a test in vitest, a sweep by a worker on a real Redis. Run `npm run
// peers` after a build.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasVitest5 = major > 22 || (major === 22 && minor >= 12);

/** Packages to install and the use to try; `refused` matches the error if it is not supported. */
const rows = [
  { beside: ['pg@7', 'bullmq@5'], use: 'fleet' },
  { beside: ['pg@8', 'ioredis@5', 'bullmq@6'], use: 'fleet' },
  { beside: ['ioredis@6', 'bullmq@5'], use: 'fleet' },
  { beside: ['ioredis@6', 'bullmq@6'], use: 'fleet' },
  { beside: ['ioredis@5.3.0', 'bullmq@5.6.0'], use: 'fleet' },
  {
    beside: ['ioredis@4', 'bullmq@5'],
    use: 'fleet',
    refused: /^ioredis 4\S+ is installed, .* ioredis@5$/m,
  },
  {
    beside: ['ioredis@5', 'bullmq@4'],
    use: 'fleet',
    refused: /^bullmq 4\S+ is installed, .* bullmq@6$/m,
  },
  { beside: ['vitest@3.2.0'], use: 'vitest' },
  { beside: ['vitest@3'], use: 'vitest' },
  { beside: ['vitest@4'], use: 'vitest' },
  ...(hasVitest5
    ? [{ beside: ['vitest@5'], use: 'vitest' }]
    : [{ beside: ['vitest@5'], use: null }]),
  { beside: ['vitest@3.1'], use: 'vitest', refused: /vitest 3\.1\S+ is installed, .* vitest@4$/m },
];

const folder = mkdtempSync(join(tmpdir(), 'fencepost-peers-'));
const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) console.log('no redis-server: packages that need one are installed but not used');

/** Runs a command for up to two minutes; returns its output and exit code. */
function run(command, args, cwd, more = {}) {
  const env = { ...process.env, NO_COLOR: '1', CI: '', ...more };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, text: `${stdout}${stderr}` };
}

function mustPass({ status, text }, what) {
  if (status !== 0) throw new Error(`${what} ended with ${status}:\n${text}`);
}

const TEST = `import { simTest } from 'fencepost/vitest';
const faults = [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }];
simTest('breaks', { lock: 'lock-service', faults, breaks: ['fence-monotone'], seeds: 50 });
simTest.each(['10ms', '20ms'])('ttl %s', (ttl) =>
  ({ lock: 'lock-service', store: 'fenced', clients: { count: 2, ttl }, faults, holds: ['fence-monotone'], seeds: 50 }));
simTest.fails('what does not hold', { lock: 'lock-service', faults, holds: ['fence-monotone'], seeds: 50 });
simTest.skip('skipped', { lock: 'lock-service', faults });
`;

function useVitest(project) {
  writeFileSync(join(project, 'lock.test.ts'), TEST);
  return run('node', ['node_modules/vitest/vitest.mjs', 'run', '--reporter=verbose'], project);
}

async function useFleet(project, url) {
  const cli = ['node_modules/fencepost/dist/cli.js'];
  const env = { ...process.env, FENCEPOST_QUEUE: url };
  const worker = spawn('node', [...cli, 'worker', '--workers', '1'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const ended = new Promise((resolve) => worker.once('close', resolve));
  const sweep = [...cli, 'sweep', 'zombie-writer', '--seeds', '1..400', '--shards', '3'];
  const used = run('node', sweep, project, { FENCEPOST_QUEUE: url });
  worker.kill('SIGTERM');
  const code = await ended;
  return code === used.status
    ? used
    : { status: code, text: `${used.text}\nthe worker ended with ${code}:\n${said}` };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Installs and uses the packages, and returns the result as a line. */
async function check({ beside, use, refused = null }, number, { tarball, url }) {
  const what = beside.join(' ');
  const project = join(folder, `project-${number}`);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  mustPass(run('npm', [...install, ...beside], project), `npm install ${what}`);
  mustPass(run('npm', [...install, tarball], project), `fencepost beside ${what}`);
  if (use === null || (use === 'fleet' && !hasRedis)) return `${what}: installs`;
  const used = use === 'vitest' ? useVitest(project) : await useFleet(project, url);
  if (refused === null) {
    mustPass(used, `${use} with ${what}`);
    return `${what}: works`;
  }
  const code = use === 'fleet' ? 2 : 1;
  if (used.status === code && refused.test(used.text)) return `${what}: refused`;
  throw new Error(`${use} with ${what} ended with ${used.status}, not refused:\n${used.text}`);
}

const port = await freePort();
const settings = ['--port', `${port}`, '--save', '', '--maxmemory-policy', 'noeviction'];
const redis = hasRedis ? spawn('redis-server', settings, { cwd: folder, stdio: 'ignore' }) : null;
try {
  mustPass(run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], '.'), 'npm pack');
  const tarball = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
  const setting = { tarball, url: `redis://127.0.0.1:${port}` };
  for (const [number, row] of rows.entries()) console.log(await check(row, number, setting));
} finally {
  redis?.kill();
  rmSync(folder, { recursive: true, force: true });
}
