/**
 * Preloaded by tests that need failing file operations. DIE_AT=7 kills the process in the middle of
 * its seventh file change; a write is then half done. MEET=<folder> makes the process wait in that
 * folder, before it links a file, until another process has got as far.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const dieAt = Number(process.env['DIE_AT'] ?? Infinity);
const meetIn = process.env['MEET'];
let changes = 0;
let hasMet = false;

/** Replaces a function of `fs`; `half` does half of its work. */
function troubled(name, half = () => {}) {
  const real = fs[name];
  fs[name] = (...args) => {
    changes += 1;
    if (changes === dieAt) {
      half(real, args);
      process.kill(process.pid, 'SIGKILL');
    }
    if (name === 'linkSync') meet();
    return real(...args);
  };
}

function meet() {
  if (meetIn === undefined || hasMet) return;
  hasMet = true;
  fs.mkdirSync(join(meetIn, String(process.pid)), { recursive: true });
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waits = 0; fs.readdirSync(meetIn).length < 2 && waits < 1000; waits += 1) {
    Atomics.wait(sleeper, 0, 0, 20);
  }
}

troubled('openSync');
troubled('writeSync', (write, [file, bytes]) => write(file, bytes.subarray(0, bytes.length / 2)));
troubled('writeFileSync', (write, [file, text]) => write(file, text.slice(0, text.length / 2)));
troubled('fsyncSync');
troubled('linkSync');
troubled('renameSync');
troubled('rmSync');
syncBuiltinESMExports();
