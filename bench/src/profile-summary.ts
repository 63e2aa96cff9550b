/** `node bench/dist/profile-summary.js FOLDER [lines]`: where the processes of a profiled bench spent their time, function by function. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const [folder = '.', lines = '40'] = process.argv.slice(2);
const IDLE = new Set(['(idle)', '(root)', '(program)']);

for (const file of readdirSync(folder).filter((each) => each.endsWith('.cpuprofile'))) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const nameOf = new Map(nodes.map(({ id, callFrame }) => [id, shown(callFrame)]));
  const selfUs = new Map<string, number>();
  let totalUs = 0;
  samples.forEach((id, i) => {
    const us = timeDeltas[i] ?? 0;
    const name = nameOf.get(id) ?? '';
    totalUs += us;
    selfUs.set(name, (selfUs.get(name) ?? 0) + us);
  });
  const busyUs = [...selfUs].reduce((sum, [name, us]) => (IDLE.has(name) ? sum : sum + us), 0);
  console.log(`\n${file}: ${Math.round(totalUs / 1_000)} ms, ${Math.round(busyUs / 1_000)} ms in JavaScript`);
  const sorted = [...selfUs].sort(([, a], [, b]) => b - a).slice(0, Number(lines));
  for (const [name, us] of sorted) {
    console.log(`${(us / 1_000).toFixed(1).padStart(9)} ms ${((100 * us) / busyUs).toFixed(1).padStart(5)} %  ${name}`);
  }
}

function shown({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`;
}
