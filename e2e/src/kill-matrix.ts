/** Each ordeal several times, as a table: `node e2e/dist/kill-matrix.js --times 10 --running 1000 [--only worker]`. */
import { parseArgs } from 'node:util';
import { undergo } from './ordeal.ts';
import { ORDEALS } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '10' },
    running: { type: 'string', default: '1000' },
    only: { type: 'string' },
  },
});

let failed = 0;
for (const ordeal of ORDEALS.filter(({ name }) => name.includes(values.only ?? ''))) {
  const times: number[] = [];
  for (let i = 0; i < Number(values.times); i++) {
    const { dispatchMs, acceptedRuns, faults } = await undergo(ordeal, { running: Number(values.running) });
    times.push(dispatchMs);
    failed += faults.length > 0 ? 1 : 0;
    const said = faults.length === 0 ? 'nothing lost, nothing twice' : faults.slice(0, 5).join('; ');
    console.log(
      `${ordeal.name} #${i + 1}: next dispatch after ${dispatchMs} ms, ${acceptedRuns} runs accepted, ${said}`,
    );
  }
  times.sort((a, b) => a - b);
  console.log(`${ordeal.name}: next dispatch median ${times[times.length >> 1]} ms, worst ${times.at(-1)} ms\n`);
}
process.exitCode = failed === 0 ? 0 : 1;
