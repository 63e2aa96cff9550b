/**
 * Which log folder a server writes to. Servers that share a data folder have one each, `logs/0`, `logs/1` and so on, because
 * a segment has one writer. A server takes the first free folder when it starts, and adopts the logs in other folders that
 * no server uses any more.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

interface LogFolder {
  readonly path: string;
  release(): Promise<void>;
}

const MOST = 64;
/** Held by servers of this very process: their number says nothing about them. */
const heldHere = new Set<string>();

export async function takeLogFolder(dataDir: string): Promise<LogFolder> {
  const root = join(dataDir, 'logs');
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (let no = 0; no < MOST; no++) {
    const folder = join(root, String(no));
    if (!(await take(folder))) continue;
    await bringHome(root, folder);
    return { path: folder, release: () => release(folder) };
  }
  throw new Error(`${root} has ${MOST} folders, all in use: give this server a data folder of its own.`);
}

async function take(folder: string): Promise<boolean> {
  if (heldHere.has(folder)) return false;
  heldHere.add(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'owner');
  const ours = await identityOf(process.pid);
  for (let tries = 0; tries < 3; tries++) {
    const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return null;
    });
    if (handle !== null) {
      await handle.writeFile(ours);
      await handle.close();
      return true;
    }
    const owner = (await readFile(file, 'utf8').catch(() => '')).trim();
    const pid = Number.parseInt(owner, 10);
    // One of our own number that is not held here lived before us: processes of containers have the same at each start.
    if (pid !== process.pid && owner !== '' && owner === (await identityOf(pid))) break;
    await rm(file, { force: true });
  }
  heldHere.delete(folder);
  return false;
}

async function release(folder: string): Promise<void> {
  await rm(join(folder, 'owner'), { force: true });
  heldHere.delete(folder);
}

/** Segments of a server that is not there any more become ours; their names tell their age, wherever they lie. */
async function bringHome(root: string, home: string): Promise<void> {
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    if (folder === home || !/^\d{1,2}$/.test(name) || !(await take(folder))) continue;
    try {
      const files = (await readdir(folder)).filter((file) => file.endsWith('.log') || file.endsWith('.idx'));
      // Indexes first: one without its segment is made again, one that was left behind would be lost.
      for (const file of files.sort()) await rename(join(folder, file), join(home, file));
    } finally {
      await release(folder);
    }
  }
}

/** A process by its number and, where the system tells, the time it began. Empty when there is none. */
async function identityOf(pid: number): Promise<string> {
  if (!Number.isInteger(pid) || pid <= 0) return '';
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return '';
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid} ${startedAt}`.trim();
}
