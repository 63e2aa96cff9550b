import { writeFileSync } from 'node:fs';

const count = Number(process.env.INPUT_count);
console.log(`The word was found ${count} times.`);
writeFileSync(process.env.SIGNALBOX_OUTPUT, JSON.stringify(`found ${count} times`));
