/**
 * Runs fleet commands from the built package, each as a process in a folder that the test names.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../../cli/command-line.fixture.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Returns the output so far. */
  readonly said: () => string;
}

export class FleetShell {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'fencepost-fleet-'));
  private readonly started: Set<ChildProcess> = new Set();

  /** Runs a command in its own folder, so that its files have the same names each time. */
  start(place: string, args: readonly string[], queue?: string): Started {
    return this.run(place, [join(root, 'dist/cli.js'), ...args], queue);
  }

  /** Runs `node` with any arguments in the same way. */
  run(place: string, args: readonly string[], queue?: string): Started {
    const cwd = join(this.folder, place);
    mkdirSync(cwd, { recursive: true });
    const secret = queue === undefined ? {} : { FENCEPOST_QUEUE: queue };
    const env = { ...process.env, NO_COLOR: '1', ...secret };
    const child = spawn('node', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.started.add(child);
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => {
      out += String(data);
    });
    child.stderr.on('data', (data) => {
      err += String(data);
    });
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code) => {
        this.started.delete(child);
        resolve({ code, out, err });
      });
    });
    return { child, ended, said: () => out + err };
  }

  write(place: string, name: string, text: string): void {
    const file = join(this.folder, place, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  async kill(): Promise<void> {
    const running = [...this.started];
    const ends = running.map((child) => new Promise((resolve) => child.once('close', resolve)));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ends);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until the output of a command matches. Throws if the command ends first. */
export async function said({ said: all, child }: Started, what: RegExp): Promise<void> {
  while (!what.test(all())) {
    if (child.exitCode !== null) throw new Error(`it ended without ${what}: ${all()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
